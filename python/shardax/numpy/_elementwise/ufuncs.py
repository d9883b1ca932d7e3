# shardax/numpy/_elementwise/ufuncs.py - functions of elements as objects: jnp.add.reduce,
# jnp.frompyfunc.
import copyreg
import operator

import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray, canonical_axis, check_arraylike, result_type
from shardax._core import Array
from shardax._transform.jit import jit
from shardax._transform.tracing import eval_shape
from shardax.numpy._elementwise import elementwise as _elementwise
from shardax.numpy._elementwise import ufunc_loops as _ufunc_loops
from shardax.numpy._reductions import cumulative as _cumulative
from shardax.numpy._reductions import extremes as _extremes
from shardax.numpy._reductions import reductions as _reductions
from shardax.numpy._vectorize import vectorize

functions = _core.functions


class _Documentation:
    """`__doc__` of a class and of its instances, whose functions are asked when it is read."""

    def __init__(self, of_class):
        self.of_class = of_class

    def __get__(self, instance, owner=None):
        return self.of_class if instance is None else instance._func.__doc__


class ufunc:
    """A function of elements, with NumPy's ways of applying it along an axis or at indices.

    `jnp.add` and its kin are ufuncs; `jnp.frompyfunc` makes others. `reduce` and `accumulate` apply
    it along an axis, `outer` to all pairs, `at` at indices, `reduceat` between indices.

    Attributes:
      nin, nout, nargs: how many arrays it takes and returns, and how many arguments it has.
      identity: the value that changes nothing, or None.

    Example:
      >>> jnp.add.outer(jnp.arange(2), jnp.arange(3))
      Array([[0, 1, 2],
             [1, 2, 3]], dtype=int32)
      >>> jnp.multiply.accumulate(jnp.array([1, 2, 3, 4]))
      Array([ 1,  2,  6, 24], dtype=int32)
      >>> jnp.add.at(jnp.zeros(3), jnp.array([0, 0, 2]), 1.0, inplace=False)
      Array([2., 0., 1.], dtype=float32)
    """

    def __init__(
        self,
        func,
        /,
        nin,
        nout,
        *,
        name=None,
        nargs=None,
        identity=None,
        call=None,
        reduce=None,
        accumulate=None,
        at=None,
        reduceat=None,
    ):
        self.__name__ = func.__name__ if name is None else name
        self._func = func
        self._nin, self._nout = operator.index(nin), operator.index(nout)
        self._nargs = operator.index(nin if nargs is None else nargs)
        self._identity = identity
        self._call = call or _vectorized(func)
        self._reduce, self._accumulate, self._at = reduce, accumulate, at
        self._reduceat = reduceat

    nin = property(lambda self: self._nin, doc="How many arrays it takes.")
    nout = property(lambda self: self._nout, doc="How many arrays it gives.")
    nargs = property(lambda self: self._nargs, doc="How many arguments it has.")
    identity = property(lambda self: self._identity, doc="What changes nothing, or None.")

    def __setattr__(self, name, value):
        if name == "_func" and hasattr(self, name):
            raise AttributeError(f"{self!r}: _func cannot be set; make another with frompyfunc.")
        object.__setattr__(self, name, value)

    def _key(self):
        return self._func, self.__name__, self.identity, self.nin, self.nout, self.nargs

    def __hash__(self):
        return hash(self._key())

    def __eq__(self, other):
        return isinstance(other, ufunc) and self._key() == other._key()

    def __repr__(self):
        return f"<jnp.ufunc '{self.__name__}'>"

    def __reduce__(self):
        if TABLE.get(self.__name__) is self:
            return _named, (self.__name__,)
        return copyreg.__newobj__, (ufunc,), self.__dict__

    def __call__(self, *args, out=None, where=None) -> Array:
        if out is not None or where is not None:
            self._refuse("", out=out, where=where)
        return self._call(*args)

    def _refuse(self, method, **arguments):
        """NotImplementedError for arguments of NumPy's that arrays which never change rule out."""
        for name, value in arguments.items():
            if value is not None:
                raise NotImplementedError(
                    f"{name} argument of {self if not method else self.__name__ + method}: arrays "
                    "are immutable; use the result."
                )

    def _check_binary(self, method):
        if self.nin != 2:
            raise ValueError(f"{method} only supported for binary ufuncs")
        if self.nout != 1:
            raise ValueError(f"{method} only supported for functions returning a single value")

    def reduce(self, a, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None):
        """The elements along `axis` (None: all), combined one after the other.

        Args:
          initial: what comes before the first element.
          where: booleans that broadcast to `a`: which elements take part.

        Raises:
          ValueError: for other than binary functions; where nothing is left and there is neither
            an identity nor `initial`.
        """
        self._check_binary("reduce")
        self._refuse(".reduce()", out=out)
        name = f"{self.__name__}.reduce"
        check_arraylike(name, *(x for x in (a, initial, where) if x is not None))
        if where is not None:
            if self.identity is None and initial is None:
                raise ValueError(
                    f"reduction operation {self.__name__!r} does not have an identity, so to use a "
                    "where mask one has to specify 'initial'."
                )
            if asarray(where).dtype != np.bool_:
                raise ValueError(
                    f"where argument must have dtype=bool; got dtype={asarray(where).dtype}"
                )
        if self._reduce:
            return self._reduce(
                a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where
            )
        if isinstance(axis, tuple):
            raise NotImplementedError(f"{name}: tuple of axes; reduce one axis after the other")
        if initial is None:
            initial = self.identity
        a = asarray(a)
        axis = None if axis is None else canonical_axis(axis, a.ndim)
        if initial is None and 0 in ((a.size,) if axis is None else (a.shape[axis],)):
            raise ValueError(
                f"zero-size array to reduction operation {self.__name__} which has no identity"
            )
        dtype = self._result_dtype(a) if dtype is None else np.dtype(_core.dtype_of(dtype))
        return _ufunc_loops.reduce(
            a, initial, where, ufunc=self, axis=axis, dtype=dtype, keepdims=bool(keepdims)
        )

    def accumulate(self, a, axis=0, dtype=None, out=None):
        """The results of `reduce` of the first 1, 2, 3, ... elements along `axis`."""
        self._check_binary("accumulate")
        self._refuse(".accumulate()", out=out)
        check_arraylike(f"{self.__name__}.accumulate", a)
        if axis is None or isinstance(axis, tuple):
            raise ValueError("accumulate does not allow multiple axes")
        if self._accumulate:
            return self._accumulate(a, axis=axis, dtype=dtype)
        a = asarray(a)
        dtype = self._result_dtype(a) if dtype is None else np.dtype(_core.dtype_of(dtype))
        return _ufunc_loops.accumulate(
            a, ufunc=self, axis=canonical_axis(axis, a.ndim), dtype=dtype
        )

    def at(self, a, indices, b=None, /, *, inplace=True):
        """`a` with the function applied at indices: to the elements, or to them and to `b`.

        An element whose index occurs twice is changed twice. The result is an array of its own:
        NumPy's way of changing `a` is refused, and `inplace=False` says so in the call.
        """
        if inplace:
            raise NotImplementedError(
                f"jnp.{self.__name__}.at: arrays are immutable and cannot be updated inplace; "
                f"write x = jnp.{self.__name__}.at(x, indices, ..., inplace=False)."
            )
        others = () if b is None else (b,)
        check_arraylike(f"{self.__name__}.at", a, *others)
        if self._at:
            return self._at(asarray(a), indices, *others)
        return _ufunc_loops.apply_at(self, asarray(a), indices, *map(asarray, others))

    def reduceat(self, a, indices, axis=0, dtype=None, out=None):
        """For each index i and the next one k: the elements i, ..., k - 1 along `axis` combined, or
        element i where k is not greater. The last stretch goes to the end.
        """
        self._check_binary("reduceat")
        self._refuse(".reduceat()", out=out)
        check_arraylike(f"{self.__name__}.reduceat", a, indices)
        a, indices = asarray(a), asarray(indices)
        if indices.ndim != 1:
            raise ValueError(f"reduceat: indices must be one-dimensional, got {indices.ndim}")
        if axis is None or isinstance(axis, (tuple, list)):
            raise ValueError("reduceat requires a single integer axis.")
        if self._reduceat:
            return self._reduceat(a, indices, axis=axis, dtype=dtype)
        dtype = self._result_dtype(a) if dtype is None else np.dtype(_core.dtype_of(dtype))
        return _ufunc_loops.reduceat(
            a, indices, ufunc=self, axis=canonical_axis(axis, a.ndim), dtype=dtype
        )

    def outer(self, A, B, /):
        """The function of each element of `A` with each of `B`."""
        self._check_binary("outer")
        check_arraylike(f"{self.__name__}.outer", A, B)
        A, B = asarray(A), asarray(B)
        return self(A.reshape(A.shape + (1,) * B.ndim), B.reshape((1,) * A.ndim + B.shape))

    def _result_dtype(self, a):
        one = _core.convert(asarray(1), a.dtype)
        return eval_shape(self, one, one).dtype


ufunc.__doc__ = _Documentation(ufunc.__doc__)


def _named(name):
    return TABLE[name]


def _vectorized(func):
    return jit(vectorize(func))


def frompyfunc(func, /, nin, nout, *, identity=None):
    """A ufunc that applies a function of scalars elementwise.

    Args:
      func: a function of `nin` scalars that returns `nout`.
      nin, nout: how many arrays it takes and returns.
      identity: the value that changes nothing, with which `reduce` starts; None: there is none.

    Returns:
      A `jnp.ufunc`.

    Example:
      >>> f = jnp.frompyfunc(lambda x, y: x + 2 * y, 2, 1)
      >>> f(jnp.array([1, 2]), 10), f.reduce(jnp.arange(4))
      (Array([21, 22], dtype=int32), Array(12, dtype=int32))
    """
    return ufunc(func, nin, nout, identity=identity)


# ---- the ufuncs of jnp -----------------------------------------------------------------------


def _logical(reduction):
    def reduce(a, axis=0, dtype=None, keepdims=False, initial=None, where=None):
        out = reduction(a, axis=axis, keepdims=keepdims, where=where)
        if initial is not None:
            both = functions.logical_and if reduction is _reductions.all else functions.logical_or
            out = both(out, initial)
        return out if dtype is None else out.astype(dtype)

    return reduce


def _extreme(reduction):
    def reduce(a, axis=0, dtype=None, keepdims=False, initial=None, where=None):
        out = reduction(a, axis=axis, keepdims=keepdims, initial=initial, where=where)
        return out if dtype is None else out.astype(dtype)

    return reduce


def _updates(method):
    def at(a, indices, b):
        if a.dtype == np.bool_ and method == "add":  # sums of truth values
            return a.at[indices].max(asarray(b).astype(bool))
        wide = a.astype(result_type(a, b))
        out = getattr(wide.at[indices], method)(asarray(b).astype(wide.dtype))
        return _core.convert(out, a.dtype)

    return at


def _own(name, nin, identity=None, call=None, **methods):
    function = call or getattr(functions, name)
    return ufunc(function, nin, 1, name=name, identity=identity, call=function, **methods)


TABLE = {
    made.__name__: made
    for made in (
        _own(
            "add",
            2,
            0,
            reduce=_reductions.sum,
            accumulate=_cumulative.cumsum,
            at=_updates("add"),
        ),
        _own(
            "multiply",
            2,
            1,
            reduce=_reductions.prod,
            accumulate=_cumulative.cumprod,
            at=_updates("multiply"),
        ),
        _own("subtract", 2, at=_updates("subtract")),
        _own("negative", 1),
        _own("bitwise_and", 2, -1),
        _own("bitwise_or", 2, 0),
        _own("bitwise_xor", 2, 0),
        _own("logical_and", 2, True, reduce=_logical(_reductions.all)),
        _own("logical_or", 2, False, reduce=_logical(_reductions.any)),
        _own("logical_xor", 2, False),
        _own("maximum", 2, reduce=_extreme(_extremes.max), at=_updates("max")),
        _own("minimum", 2, reduce=_extreme(_extremes.min), at=_updates("min")),
        _own("logaddexp", 2, -np.inf, call=_elementwise.logaddexp),
        _own("logaddexp2", 2, -np.inf, call=_elementwise.logaddexp2),
    )
}
globals().update(TABLE)
