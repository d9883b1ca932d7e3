"""shardax.extend.ifrt_programs - programs for other machines, of which there are none."""

__all__ = ["ifrt_programs"]


class _Programs:
    """Its methods raise NotImplementedError."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        def unavailable(*args, **kwargs):
            raise NotImplementedError(
                f"ifrt_programs.{name}: there are no other machines to compile for; jit compiles "
                "for this one."
            )

        return unavailable


ifrt_programs = _Programs()
