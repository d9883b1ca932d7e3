"""shardax/_base/wrapped_functions.py - functions with layers of transformations around them.

A `WrappedFun` is a function and its wrappers, innermost last. Two of equal parts are equal, so that
caches find them.

>>> def doubled(f, x):
...     return 2 * f(x)
>>> transformation2(doubled, wrap_init(abs)).call_wrapped(-3)
6
"""

import functools
import weakref


class StoreException(Exception):
    """An auxiliary result was read before the function ran, or written twice."""


class Store:
    """The place of a transformation's auxiliary result."""

    def __init__(self, overwrites=False):
        self._values = []
        self._overwrites = overwrites  # by an equal value

    @property
    def val(self):
        if not self._values:
            raise StoreException("Store empty")
        return self._values[0]

    def store(self, value):
        if self._values and not (self._overwrites and self._values[0] == value):
            raise StoreException("Store occupied")
        self._values[:] = [value]

    def reset(self):
        self._values.clear()

    def __bool__(self):
        return bool(self._values)


class WrappedFun:
    """A function `f`, its transformations with their static arguments, and fixed keywords."""

    __slots__ = (
        "__weakref__",
        "debug_info",
        "f",
        "f_transformed",
        "in_type",
        "params",
        "stores",
        "transforms",
    )

    def __init__(self, f, f_transformed, transforms, stores, params, in_type, debug_info):
        self.f = f
        self.f_transformed = f_transformed
        self.transforms = transforms
        self.stores = stores
        self.params = params
        self.in_type = in_type
        self.debug_info = debug_info

    @property
    def __name__(self):
        return getattr(self.f, "__name__", "<unnamed wrapped function>")

    def wrap(self, gen, gen_static_args, out_store):
        """One more transformation, around the others: gen(f, *static, *args) runs it."""
        transformed = functools.partial(gen, self.f_transformed, *gen_static_args)
        if out_store is not None:
            transformed = functools.partial(gen, self.f_transformed, out_store, *gen_static_args)
        return WrappedFun(
            self.f,
            transformed,
            ((gen, tuple(gen_static_args)), *self.transforms),
            (out_store, *self.stores),
            self.params,
            None,
            self.debug_info,
        )

    def call_wrapped(self, *args, **kwargs):
        """Runs the function with all its transformations."""
        return self.f_transformed(*args, **{**dict(self.params), **kwargs})

    def populate_stores(self, stores):
        """Fills the stores with the values of others: those of an equal function that has run."""
        for own, other in zip(self.stores, stores, strict=True):
            if own is not None:
                own.store(other.val)

    def _identity(self):
        return self.f, self.transforms, self.params, self.in_type

    def __hash__(self):
        return hash(self._identity())

    def __eq__(self, other):
        return isinstance(other, WrappedFun) and self._identity() == other._identity()

    def __repr__(self):
        names = [getattr(gen, "__name__", str(gen)) for gen, _ in self.transforms]
        return f"Wrapped function {self.__name__}; transformations, innermost last: {names}"


def wrap_init(f, params=None, *, debug_info=None):
    """`f` without transformations.

    Args:
      f: a function.
      params: keywords that it is always called with.
      debug_info: what `api_util.debug_info` gives, kept for those who ask.
    """
    return WrappedFun(f, f, (), (), tuple(sorted((params or {}).items())), None, debug_info)


def transformation2(gen, fun=None, *static_args):
    """`fun` with gen(f, *static_args, *args, **kwargs) around it. Without `fun`: a decorator."""
    if fun is None:
        return functools.partial(transformation2, gen)
    return fun.wrap(gen, static_args, None)


def transformation_with_aux2(gen, fun=None, *static_args, use_eq_store=False, unk_names=False):
    """As `transformation2`, of gen(f, store, *static_args, *args, **kwargs).

    `unk_names` has no effect: the package does without what it steers in JAX.

    Returns:
      The function, and a function that gives the value that `gen` has left in the store.
    """
    if fun is None:
        return functools.partial(transformation_with_aux2, gen, use_eq_store=use_eq_store)
    store = Store(overwrites=use_eq_store)
    return fun.wrap(gen, static_args, store), lambda: store.val


def _run(generator, f):
    """Runs one up to its result: it yields the arguments for `f`, then the value to return."""
    args, kwargs = next(generator)
    result = generator.send(f(*args, **kwargs))
    generator.close()
    return result


def _without_aux(gen, f, static_args, *args, **kwargs):
    return _run(gen(*static_args, *args, **kwargs), f)


def _with_aux(gen, f, store, static_args, *args, **kwargs):
    result, aux = _run(gen(*static_args, *args, **kwargs), f)
    store.store(aux)
    return result


class _Generated:
    """A generator of transformations as a function of (f, ...), equal to those of its own."""

    def __init__(self, gen, run):
        self._gen, self._run_it = gen, run

    @property
    def __name__(self):
        return getattr(self._gen, "__name__", str(self._gen))

    def __call__(self, f, *args, **kwargs):
        return self._run_it(self._gen, f, *args, **kwargs)

    def __hash__(self):
        return hash((self._gen, self._run_it))

    def __eq__(self, other):
        return isinstance(other, _Generated) and (self._gen, self._run_it) == (
            other._gen,
            other._run_it,
        )


def transformation(gen, fun=None, *static_args):
    """`fun` with the generator `gen` around it; without `fun`: a decorator.

    gen(*static_args, *args, **kwargs) yields (args, kwargs) for the function, is sent its result,
    and yields the result of the whole.

    Example:
      >>> def negated(x):
      ...     result = yield (x,), {}
      ...     yield -result
      >>> transformation(negated, wrap_init(abs)).call_wrapped(-3)
      -3
    """
    if fun is None:
        return functools.partial(transformation, gen)
    return fun.wrap(_Generated(gen, _without_aux), (static_args,), None)


def transformation_with_aux(gen, fun=None, *static_args):
    """As `transformation`; the generator yields (result, auxiliary result) at its end.

    Returns:
      The function, and a function that gives the auxiliary result once it has run.
    """
    if fun is None:
        return functools.partial(transformation_with_aux, gen)
    store = Store()
    return fun.wrap(_Generated(gen, _with_aux), (static_args,), store), lambda: store.val


def merge_linear_aux(aux1, aux2):
    """The auxiliary result of the one of two functions that ran.

    Returns:
      (True, that of the first) or (False, that of the second).

    Raises:
      StoreException: where both ran, or neither.
    """
    try:
        first = aux1()
    except StoreException:
        try:
            second = aux2()
        except StoreException:
            raise StoreException("neither store occupied") from None
        return False, second
    try:
        aux2()
    except StoreException:
        return True, first
    raise StoreException("both stores occupied")


def cache(call, *, explain=None):
    """`call(fun, *args)` of a WrappedFun, remembered while the function that it wraps lives.

    `explain` has no effect: the package does without what it steers in JAX.

    A remembered result also fills the stores of an equal function.
    """
    kept = weakref.WeakKeyDictionary()

    @functools.wraps(call)
    def remembered(fun, *args):
        entries = kept.setdefault(fun.f, {})
        key = fun.transforms, fun.params, fun.in_type, args
        if key in entries:
            result, stores = entries[key]
            fun.populate_stores(stores)
            return result
        result = call(fun, *args)
        entries[key] = result, fun.stores
        return result

    remembered.cache_clear = kept.clear
    return remembered
