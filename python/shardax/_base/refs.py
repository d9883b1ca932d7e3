# shardax/_base/refs.py - classes of mutable arrays, of which there are none.


class Ref:
    """The class of mutable arrays, for `isinstance`: there are none."""

    def __new__(cls, *args, **kwargs):
        raise NotImplementedError(
            "Ref: there are no mutable arrays; return the new value, or carry it through "
            "lax.scan or lax.while_loop."
        )


class AbstractRef(Ref):
    """The type of a Ref; for `isinstance`."""
