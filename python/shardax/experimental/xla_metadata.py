"""shardax.experimental.xla_metadata - notes for XLA's compiler on operations.

There is no XLA here: they are accepted, and nothing reads them.
"""

__all__ = ["set_xla_metadata"]


class _Noted:
    def __call__(self, function):
        return function

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def set_xla_metadata(x=None, **kwargs):
    """A context, also a decorator, whose operations carry these notes; with `x`, that value.

    Raises:
      ValueError: for notes that are no string, number or bool.

    Example:
      >>> with set_xla_metadata(kind="mine"):
      ...     y = jnp.sin(0.0)
    """
    for name, value in kwargs.items():
        if not isinstance(value, (str, int, float, bool)):
            raise ValueError(
                f"set_xla_metadata: {name}={value!r}; a string, a number or a bool was expected."
            )
    return _Noted() if x is None else x
