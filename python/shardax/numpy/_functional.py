# shardax/numpy/_functional.py - functions applied along axes.
from shardax._base.array_functions import expand_dims
from shardax._base.arrays import asarray, canonical_axis
from shardax._transform.pmap_vmap import vmap


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """A function of vectors applied to every vector along `axis`.

    Args:
      func1d: a function of a vector, which it may turn into an array of any shape.
      axis: the dimension along which the vectors lie.
      arr: an array.
      *args, **kwargs: passed on to `func1d`.

    Returns:
      The results, stacked; their dimensions stand in the place of `axis`.

    Example:
      >>> jnp.apply_along_axis(lambda v: v[::-1], 1, jnp.array([[1, 2], [3, 4]]))
      Array([[2, 1],
             [4, 3]], dtype=int32)
    """
    arr = asarray(arr)
    axis = canonical_axis(axis, arr.ndim)
    fun = lambda v: func1d(v, *args, **kwargs)  # noqa: E731
    for d in range(1, arr.ndim - axis):
        fun = vmap(fun, in_axes=d, out_axes=-1)
    for _ in range(axis):
        fun = vmap(fun, in_axes=0, out_axes=0)
    return fun(arr)


def apply_over_axes(func, a, axes):
    """A reduction func(a, axis) applied over several dimensions in turn; they stay, with size 1.

    Args:
      func: a function of an array and a dimension.
      a: an array.
      axes: the dimensions, an int or a sequence.

    Raises:
      ValueError: `func` takes more than one dimension away, or adds one.

    Example:
      >>> jnp.apply_over_axes(jnp.sum, jnp.ones((2, 3, 4)), [0, 2])
      Array([[[8.],
              [8.],
              [8.]]], dtype=float32)
    """
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        out = func(a, axis)
        if out.ndim not in (a.ndim, a.ndim - 1):
            raise ValueError(
                "jnp.apply_over_axes: function is not returning an array of the correct shape: it "
                f"turned {a.ndim} dimensions into {out.ndim}; expected as many, or one less."
            )
        a = out if out.ndim == a.ndim else expand_dims(out, axis)
    return a
