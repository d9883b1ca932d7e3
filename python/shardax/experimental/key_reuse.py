"""shardax.experimental.key_reuse - an error where a PRNG key is used twice.

While the flag jax_debug_key_reuse is set, each key may be drawn from or split once. A
`debug_key_reuse(True)` block or `config.update` sets it; `random.clone` gives a key that may be
used again. Compiled functions are checked as a whole before they run. A
loop must not draw from one key in all of its turns. A key that a branch uses must not be used after
it, nor a part of an array of keys twice.

>>> from shardax import random
>>> with debug_key_reuse(True):
...     key = random.key(0)
...     first = random.normal(key)
...     second = random.normal(key)  # doctest: +IGNORE_EXCEPTION_DETAIL
Traceback (most recent call last):
KeyReuseError: Previously-consumed key passed to jit-compiled function at index 0
"""

from shardax._base.flags import debug_key_reuse
from shardax.errors import KeyReuseError

__all__ = ["KeyReuseError", "debug_key_reuse"]
