"""shardax.scipy - functions of SciPy. A module is imported when it is first used."""

from shardax._base.lazy_modules import at_first_use

_SUBMODULES = (
    "cluster fft integrate interpolate linalg ndimage optimize signal sparse spatial special stats"
).split()

_, __getattr__, __dir__ = at_first_use(__name__, {}, _SUBMODULES)
