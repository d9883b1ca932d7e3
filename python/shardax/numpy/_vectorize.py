# shardax/numpy/_vectorize.py - functions of scalars or small arrays, applied over all other
# dimensions.
import functools
import re
import warnings

import shardax._core as _core
from shardax._base.arrays import another, asarray
from shardax._transform.pmap_vmap import vmap
from shardax.numpy._shaping.shape import squeeze

_NAME = r"\w+"
_CORE = rf"\((?:{_NAME}(?:,{_NAME})*)?\)"
_CORES = rf"{_CORE}(?:,{_CORE})*"
_SIGNATURE = re.compile(rf"({_CORES})->({_CORES})")


def _parse(signature):
    """The names of the core dimensions of each operand and of each result."""
    found = _SIGNATURE.fullmatch(signature)
    if not found:
        raise ValueError(
            f"not a valid gufunc signature: {signature}; one is written like (m,n),(n)->(m)."
        )
    return tuple(
        [tuple(re.findall(_NAME, core)) for core in re.findall(_CORE, side)]
        for side in found.groups()
    )


class _Vectorized:
    """A call of a vectorized function: its signature, checked against operands and results."""

    def __init__(self, excluded, signature):
        self.excluded = excluded
        self.signature = signature
        self.where = f"on vectorized function with {excluded=} and {signature=}"
        self.inputs, self.outputs = (None, None) if signature is None else _parse(signature)
        self.sizes = {}

    def cores(self, count):
        if self.inputs is None:
            return [()] * count
        if len(self.inputs) != count:
            raise TypeError(
                f"wrong number of positional arguments: expected {len(self.inputs)}, got {count} "
                f"{self.where}"
            )
        return self.inputs

    def leading(self, shape, core):
        """`shape` without its core dimensions."""
        if len(shape) < len(core):
            raise ValueError(
                f"input with shape {shape} does not have enough dimensions for all core "
                f"dimensions {core} {self.where}"
            )
        rank = len(shape) - len(core)
        self.agree(core, shape[rank:])
        return shape[:rank]

    def agree(self, core, shape):
        for name, size in zip(core, shape):
            known = self.sizes.setdefault(name, size)
            if known != size:
                raise ValueError(
                    f"inconsistent size for core dimension {name!r}: {size} vs {known} {self.where}"
                )

    def check_results(self, out):
        if self.outputs is None:
            return out
        if len(self.outputs) == 1:
            results = out if isinstance(out, tuple) else (out,)
        elif isinstance(out, tuple):
            results = out
        else:
            raise TypeError(
                f"output must be a tuple when multiple outputs are expected, got: {out}\n"
                f"{self.where}"
            )
        if len(results) != len(self.outputs):
            raise TypeError(
                f"wrong number of output arguments: expected {len(self.outputs)}, got "
                f"{len(results)} {self.where}"
            )
        for result, core in zip(results, self.outputs):
            shape = asarray(result).shape
            if len(shape) != len(core):
                raise ValueError(
                    f"output shape {shape} does not match core dimensions {core} {self.where}"
                )
            self.agree(core, shape)
        return out


def vectorize(pyfunc, *, excluded=frozenset(), signature=None):
    """A function of scalars (or of what `signature` says) that broadcasts over all other
    dimensions.

    Args:
      pyfunc: the function.
      excluded: positions and names of arguments that are passed on as they are.
      signature: core dimensions of operands and results, like "(m,n),(n)->(m)".

    Returns:
      The function; its arguments broadcast but for core dimensions.

    Raises:
      TypeError, ValueError: `excluded` or `signature` is invalid; and, of the function, operands or
        results do not fit the signature.

    Example:
      >>> f = jnp.vectorize(jnp.dot, signature="(n),(n)->()")
      >>> f(jnp.ones((4, 3)), jnp.ones(3))
      Array([3., 3., 3., 3.], dtype=float32)
    """
    if any(not isinstance(item, (int, str)) for item in excluded):
        raise TypeError(
            "jax.numpy.vectorize can only exclude integer or string arguments, but "
            f"excluded={set(excluded)}"
        )
    if any(isinstance(item, int) and item < 0 for item in excluded):
        raise ValueError(f"excluded={set(excluded)} contains negative numbers")

    @functools.wraps(pyfunc)
    def wrapped(*args, **kwargs):
        checks = _Vectorized(excluded, signature)
        fixed = {i: a for i, a in enumerate(args) if i in excluded}
        # Without a signature, None stands for an argument that is left out.
        if signature is None:
            fixed.update({i: a for i, a in enumerate(args) if a is None})
        mapped = [i for i in range(len(args)) if i not in fixed]
        missing = {i for i in mapped if args[i] is None}
        if missing:
            raise ValueError(f"Cannot pass None at locations {missing} with {signature=}")
        named = {name: a for name, a in kwargs.items() if name in excluded}
        names = [name for name in kwargs if name not in excluded]
        operands = [
            another(asarray(a)) for a in (*(args[i] for i in mapped), *map(kwargs.get, names))
        ]
        cores = checks.cores(len(operands))
        shapes = [checks.leading(a.shape, core) for a, core in zip(operands, cores)]
        outer = _core.broadcast_shapes(*shapes) if shapes else ()
        if len({len(s) for s in shapes if s}) > 1:
            _check_ranks(pyfunc, operands)

        def fun(*some):
            values = dict(zip(mapped, some)) | fixed
            keywords = dict(zip(names, some[len(mapped) :])) | named
            out = pyfunc(*(values[i] for i in range(len(args))), **keywords)
            return checks.check_results(out)

        for d in range(len(outer)):  # from the innermost dimension out
            axes = tuple(0 if len(s) > d and s[-1 - d] != 1 else None for s in shapes)
            if all(a is None for a in axes):
                fun = vmap(fun, in_axes=None, out_axes=0, axis_size=outer[-1 - d])
            else:
                fun = vmap(fun, in_axes=axes)
        return fun(*(_without_ones(a, s) for a, s in zip(operands, shapes)))

    return wrapped


def _check_ranks(pyfunc, operands):
    """Follows jax_numpy_rank_promotion for operands whose ranks differ."""
    rule = _core.config_read("jax_numpy_rank_promotion")
    if rule == "allow":
        return
    text = (
        f"operands with shapes [{', '.join(str(a.shape) for a in operands)}] require rank "
        f"promotion (with {getattr(pyfunc, '__name__', 'the function')} vectorized), which "
        f"jax_numpy_rank_promotion={rule!r} does not allow. Give them the same rank, with x[None] "
        "say, or set the option to 'allow'."
    )
    if rule == "raise":
        raise ValueError(text)
    warnings.warn(text, stacklevel=3)


def _without_ones(a, leading):
    ones = tuple(i for i, n in enumerate(leading) if n == 1)
    return squeeze(a, ones) if ones else a
