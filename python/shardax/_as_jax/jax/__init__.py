"""shardax/_as_jax/jax - the package `jax` of processes that a process with the alias starts.

`install_as_jax` puts the folder above on `sys.path`. Libraries that start other Python processes
(multiprocessing, joblib, pytest-xdist, concurrent.futures) hand its `sys.path` to them.
"""

import sys

from shardax import install_as_jax

del sys.modules["jax"]
install_as_jax()
sys.modules["jax"] = sys.modules["shardax"]
