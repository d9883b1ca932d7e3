"""python/stub_declarations.py - declarations that python/stubs.py writes into stubs as they are."""

# Functions whose results depend on their arguments, and types that sources do not declare.
_SHARD_MAP = """mesh: Any = None, in_specs: Any = ..., out_specs: Any = ...,
    check_vma: bool | None = None, axis_names: Any = frozenset(), check_rep: bool | None = None,
    auto: Any = frozenset(),"""
DECLARATIONS = {
    "shardax": {
        "shard_map": f"""@overload
def shard_map(
    f: _F, /, {_SHARD_MAP}
) -> _F: ...
@overload
def shard_map(
    *, f: _F, {_SHARD_MAP}
) -> _F: ...
@overload
def shard_map(
    *, {_SHARD_MAP}
) -> Callable[[_F], _F]:""",
    },
    "shardax.distributed": {
        "initialize": """def initialize(
    coordinator_address: str | None = None, num_processes: int | None = None,
    process_id: int | None = None, local_device_ids: int | Sequence[int] | None = None, *,
    cluster_detection_method: str | None = None, initialization_timeout: int = ...,
    heartbeat_timeout_seconds: int = ..., shutdown_timeout_seconds: int = ...,
    coordinator_bind_address: str | None = None, slice_index: int | None = None,
) -> None:""",
    },
    "shardax.experimental.checkpoints": {
        "save": """def save(
    folder: str | os.PathLike[str], tree: Any, *, overwrite: bool = False
) -> None:""",
        "restore": "def restore(folder: str | os.PathLike[str], like: Any) -> Any:",
    },
    "shardax.numpy": {
        "where": """@overload
def where(
    condition: ArrayLike, x: None = None, y: None = None, /, *,
    size: int | None = None, fill_value: Any = None,
) -> tuple[Array, ...]: ...
@overload
def where(
    condition: ArrayLike, x: ArrayLike, y: ArrayLike, /, *, size: None = None,
    fill_value: None = None,
) -> Array:""",
        "linspace": """@overload
def linspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True,
    retstep: Literal[False] = False, dtype: DTypeLike | None = None, axis: int = 0, *,
    device: Any = None,
) -> Array: ...
@overload
def linspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, *,
    retstep: Literal[True], dtype: DTypeLike | None = None, axis: int = 0, device: Any = None,
) -> tuple[Array, Array]:""",
        "average": """@overload
def average(
    a: ArrayLike, axis: int | Sequence[int] | None = None, weights: ArrayLike | None = None,
    returned: Literal[False] = False, keepdims: bool = False,
) -> Array: ...
@overload
def average(
    a: ArrayLike, axis: int | Sequence[int] | None = None, weights: ArrayLike | None = None, *,
    returned: Literal[True], keepdims: bool = False,
) -> tuple[Array, Array]:""",
        "indices": """@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: Literal[False] = False
) -> Array: ...
@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, *, sparse: Literal[True]
) -> tuple[Array, ...]:""",
        "unique": """@overload
def unique(
    ar: ArrayLike, return_index: Literal[False] = False, return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False, axis: int | None = None, *, equal_nan: bool = True,
    size: int | None = None, fill_value: ArrayLike | None = None, sorted: bool = True,
) -> Array: ...
@overload
def unique(
    ar: ArrayLike, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True,
    size: int | None = None, fill_value: ArrayLike | None = None, sorted: bool = True,
) -> Any:""",
    },
    "shardax.numpy.linalg": {
        "svd": """@overload
def svd(
    a: ArrayLike, full_matrices: bool = True, compute_uv: Literal[True] = True,
    hermitian: bool = False, subset_by_index: tuple[int, int] | None = None,
) -> SVDResult: ...
@overload
def svd(
    a: ArrayLike, full_matrices: bool = True, *, compute_uv: Literal[False],
    hermitian: bool = False, subset_by_index: tuple[int, int] | None = None,
) -> Array: ...
@overload
def svd(
    a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True,
    hermitian: bool = False, subset_by_index: tuple[int, int] | None = None,
) -> Array | SVDResult:""",
        "qr": """@overload
def qr(a: ArrayLike, mode: Literal["reduced", "complete", "full"] = "reduced") -> QRResult: ...
@overload
def qr(a: ArrayLike, mode: Literal["r"]) -> Array: ...
@overload
def qr(a: ArrayLike, mode: str = "reduced") -> Any:""",
    },
    "shardax.lax": {
        "scan": """def scan(
    f: Callable[[_T, _X], tuple[_Carry, _Y]], init: _T, xs: _X | None = None,
    length: int | None = None, reverse: bool = False, unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple[_Carry, _Y]:""",
        "while_loop": """def while_loop(
    cond_fun: Callable[[_T], Any], body_fun: Callable[[_T], _Carry], init_val: _T
) -> _Carry:""",
        "fori_loop": """def fori_loop(
    lower: Any, upper: Any, body_fun: Callable[[Any, _T], _Carry], init_val: _T, *,
    unroll: int | bool | None = None,
) -> _Carry:""",
        "associative_scan": """def associative_scan(
    fn: Callable[[_T, _T], _T], elems: _T, reverse: bool = False, axis: int = 0
) -> _T:""",
        "cond": """def cond(
    pred: Any, *args: Any, operand: Any = ..., **kwargs: Any
) -> Any:""",
        "switch": """def switch(
    index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = ...
) -> Any:""",
        "map": """def map(
    f: Callable[..., Any], xs: Any, *, batch_size: int | None = None
) -> Any:""",
    },
}
# The result of these functions has the type of the first argument, a tree.
SAME_TREE = {
    "shardax.lax": (
        "optimization_barrier pbroadcast pcast pmax pmean pmin ppermute pshuffle psum pvary "
        "stop_gradient with_sharding_constraint"
    ),
    "shardax": "block_until_ready copy_to_host_async reshard",
}
# The result of these is a function like the first argument.
SAME_FUNCTION = {
    "shardax": "checkpoint named_call remat vmap",
}
# The modules of types that declarations use.
HOMES = {
    "Array": "shardax._core",
    "Device": "shardax._devices.devices",
    "Divergence": "shardax._debug.replicas",
    "Span": "shardax._explain.profiles",
    "ArrayLike": "shardax.typing",
    "DTypeLike": "shardax.typing",
    "Mesh": "shardax._devices.mesh",
}
TYPE_VARIABLES = """_T = TypeVar("_T")
_X = TypeVar("_X")
_Y = TypeVar("_Y")
_Carry = TypeVar("_Carry")
_F = TypeVar("_F", bound=Callable[..., Any])
"""

# Types that stubs declare themselves.
_TRANSFORMED = '''_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)

class JitWrapped(Protocol[_P, _R]):
    """A function that jit or pmap made."""

    @property
    def __wrapped__(self) -> Callable[_P, _R]: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    def lower(self, *args: _P.args, **kwargs: _P.kwargs) -> stages.Lowered: ...
    def trace(self, *args: _P.args, **kwargs: _P.kwargs) -> stages.Traced: ...
    def eval_shape(self, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...
    def clear_cache(self) -> None: ...

class Explanation:
    """The facts about a function that `explain` gives."""

    function: str
    axes: dict[str, int]
    devices: int
    arguments: list[dict[str, Any]]
    results: list[dict[str, Any]]
    values: list[dict[str, Any]]
    collectives: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    buffers: list[dict[str, Any]]
    work: dict[str, Any]
    memory: dict[str, Any]
    lines: list[dict[str, Any]]
    summary: list[str]
    @property
    def apart(self) -> Explanation | None: ...
    def on(self, accelerators: Any) -> Any: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self, **options: Any) -> str: ...

'''
_PROFILE = '''class Profile:
    """The spans of a block of `profile`, with their times."""

    seconds: float
    spans: tuple[Span, ...]
    dropped: int
    def by_step(self) -> list[dict[str, Any]]: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...

'''
_UFUNC = '''class ufunc:
    """A function of elements, with NumPy's ways of applying it along an axis or at indices."""

    __name__: str
    @property
    def nin(self) -> int: ...
    @property
    def nout(self) -> int: ...
    @property
    def nargs(self) -> int: ...
    @property
    def identity(self) -> Any: ...
    def __call__(self, *args: ArrayLike, out: None = None, where: None = None) -> Array: ...
    def reduce(
        self, a: ArrayLike, axis: int | None = 0, dtype: DTypeLike | None = None, out: None = None,
        keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None,
    ) -> Array: ...
    def accumulate(
        self, a: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, out: None = None
    ) -> Array: ...
    def at(
        self, a: ArrayLike, indices: Any, b: ArrayLike | None = None, /, *, inplace: bool = True
    ) -> Array: ...
    def reduceat(
        self, a: ArrayLike, indices: Any, axis: int = 0, dtype: DTypeLike | None = None,
        out: None = None,
    ) -> Array: ...
    def outer(self, A: ArrayLike, B: ArrayLike, /) -> Array: ...

class _ScalarType:
    """Makes arrays of a dtype, and stands for it."""

    dtype: np.dtype[Any]
    def __call__(self, x: Any, /) -> Array: ...

'''
_INITIALIZER = '''class Initializer(Protocol):
    """The type of functions that make parameters."""

    def __call__(
        self, key: Any, shape: Sequence[Any], dtype: DTypeLike | None = None,
        out_sharding: Any = None,
    ) -> Array: ...

'''
CLASSES = {
    "shardax": _TRANSFORMED + _PROFILE,
    "shardax.nn.initializers": _INITIALIZER,
    "shardax.numpy": _UFUNC,
}
CONFIG = '''from typing import Any

def update(name: str, value: Any) -> None:
    """Sets a flag; AttributeError for unknown ones."""
def read(name: str) -> Any:
    """The value of a flag; AttributeError for unknown ones."""
def parse_flags_with_absl() -> None:
    """Sets the flags that the command line gives as `--jax_name=value`."""

values: dict[str, Any]
x64_enabled: bool
omnistaging_enabled: bool
FLAGS: Any
config: Any

def __getattr__(name: str) -> Any: ...
'''

# The extension module's stub; {methods} are those of arrays.
CORE = '''from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from shardax.typing import ArrayLike, DTypeLike

class IndexUpdateRef:
    """Elements of an array: functions that read them, or return an array with them replaced."""

    def get(
        self, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, fill_value: ArrayLike | None = None, out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array: ...
    def set(
        self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Array: ...
    def add(
        self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Array: ...
    def subtract(
        self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Array: ...
    def multiply(
        self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Array: ...
    def mul(
        self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Array: ...
    def divide(
        self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Array: ...
    def power(
        self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Array: ...
    def min(
        self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Array: ...
    def max(
        self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Array: ...
    def apply(
        self, func: Callable[[Any], Any], *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: Any = None, out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array: ...

class IndexUpdateHelper:
    """The property `at` of arrays: `x.at[i]`."""

    def __getitem__(self, index: Any) -> IndexUpdateRef: ...

class Array:
    """An array: elements of one dtype in a shape."""

{methods}
ArrayImpl = Array

class Tracer(Array):
    """Stands for an array while a function is traced."""

api: Any
functions: Any
lax: Any
pytree: Any

def __getattr__(name: str) -> Any: ...
'''
