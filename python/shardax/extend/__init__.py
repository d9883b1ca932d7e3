"""shardax.extend - names for programs and libraries that look into programs."""

from shardax._base.lazy_modules import at_first_use as _at_first_use

_, __getattr__, __dir__ = _at_first_use(
    __name__, {}, ("backend", "core", "ifrt_programs", "linear_util", "random", "source_info_util")
)
