"""Written by python/stubs.py."""

from typing import Any

from shardax._base.dtypes import float0 as float0
from shardax._base.dtypes import prng_key as prng_key
from shardax.errors import TypePromotionError as TypePromotionError

def any_dtype(x: Any) -> Any:
    """The dtype that `x` stands for, also one that no array here has: of strings, objects ..."""
bfloat16: Any
def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> Any:
    """The dtype that arrays have when `dtype` is asked for: narrower while x64 is off; for None that of floats."""
class extended:
    """The kind of dtypes that are no numbers, such as those of PRNG keys."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    T: Any
    __getitem__: Any
    __mul__: Any
    all: Any
    any: Any
    argmax: Any
    argmin: Any
    argsort: Any
    astype: Any
    base: Any
    byteswap: Any
    choose: Any
    clip: Any
    compress: Any
    conj: Any
    conjugate: Any
    copy: Any
    cumprod: Any
    cumsum: Any
    data: Any
    device: Any
    diagonal: Any
    dtype: Any
    dump: Any
    dumps: Any
    fill: Any
    flags: Any
    flat: Any
    flatten: Any
    getfield: Any
    imag: Any
    item: Any
    itemsize: Any
    max: Any
    mean: Any
    min: Any
    nbytes: Any
    ndim: Any
    nonzero: Any
    prod: Any
    put: Any
    ravel: Any
    real: Any
    repeat: Any
    reshape: Any
    resize: Any
    round: Any
    searchsorted: Any
    setfield: Any
    setflags: Any
    shape: Any
    size: Any
    sort: Any
    squeeze: Any
    std: Any
    strides: Any
    sum: Any
    swapaxes: Any
    take: Any
    to_device: Any
    tobytes: Any
    tofile: Any
    tolist: Any
    trace: Any
    transpose: Any
    var: Any
    view: Any
def finfo(dtype: Any) -> Any:
    """The limits of a floating dtype."""
def iinfo(int_type: Any) -> Any:
    """The limits of an integer dtype."""
def issubdtype(arg1: Any, arg2: Any) -> Any:
    """True if a dtype is of a kind of NumPy's hierarchy; bfloat16 and its kin are floats."""
def itemsize_bits(dtype: Any) -> Any:
    """The number of bits of an element."""
def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """The dtype to which arguments are promoted together; None stands for the default float."""
def scalar_type_of(x: Any) -> Any:
    """The Python type of an array's elements: float, int, complex or bool."""
