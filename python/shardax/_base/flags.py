# shardax/_base/flags.py - the context managers that change a flag for a while.
import contextlib
import itertools

import shardax._core as _core


def _scope(flag):
    @contextlib.contextmanager
    def scope(new_val=True):
        _core.config_enter(flag, new_val)
        try:
            yield
        finally:
            _core.config_leave(flag)

    scope.__name__ = scope.__qualname__ = flag.removeprefix("jax_")
    scope.__doc__ = f"Sets {flag} while the block runs; what config.update sets holds after it."
    return scope


class enable_x64(contextlib.ContextDecorator):
    """Sets jax_enable_x64 in this thread while the block, or the decorated function, runs."""

    def __init__(self, new_val=True):
        self.value = bool(new_val)

    def _recreate_cm(self):  # each call of a decorated function has a state of its own
        return enable_x64(self.value)

    def __enter__(self):
        self.before = _core.override_x64(self.value)

    def __exit__(self, *_):
        _core.override_x64(self.before)


class disable_x64(enable_x64):
    """Clears jax_enable_x64 in this thread while the block runs."""

    def __init__(self):
        super().__init__(False)


debug_nans = _scope("jax_debug_nans")
debug_infs = _scope("jax_debug_infs")
_disable_jit = _scope("jax_disable_jit")


def disable_jit(disable=True):
    """Sets jax_disable_jit while the block runs."""
    return _disable_jit(disable)


log_compiles = _scope("jax_log_compiles")
no_tracing = _scope("jax_no_tracing")
checking_leaks = _scope("jax_check_tracer_leaks")
check_tracer_leaks = checking_leaks
explain_cache_misses = _scope("jax_explain_cache_misses")
default_device = _scope("jax_default_device")
default_matmul_precision = _scope("jax_default_matmul_precision")
default_prng_impl = _scope("jax_default_prng_impl")
threefry_partitionable = _scope("jax_threefry_partitionable")
numpy_rank_promotion = _scope("jax_numpy_rank_promotion")
numpy_dtype_promotion = _scope("jax_numpy_dtype_promotion")
legacy_prng_key = _scope("jax_legacy_prng_key")
debug_key_reuse = _scope("jax_debug_key_reuse")
enable_custom_prng = _scope("jax_enable_custom_prng")
auto_pcast = _scope("jax_auto_pcast")
enable_checks = _scope("jax_enable_checks")
allow_f16_reductions = _scope("jax_allow_f16_reductions")
no_execution = _scope("jax_no_execution")
softmax_custom_jvp = _scope("jax_softmax_custom_jvp")
transfer_guard_device_to_device = _scope("jax_transfer_guard_device_to_device")
transfer_guard_device_to_host = _scope("jax_transfer_guard_device_to_host")
transfer_guard_host_to_device = _scope("jax_transfer_guard_host_to_device")


@contextlib.contextmanager
def transfer_guard(new_val):
    """Guards transfers between the host and devices, and between devices, while the block runs.

    Arguments of ops that are NumPy arrays or Python numbers are moved to a device; device_put moves
    explicitly. "log" and "disallow" leave explicit transfers alone, "log_explicit" and
    "disallow_explicit" do not.

    Raises:
      ValueError: for other levels than these and "allow".

    Example:
      >>> with transfer_guard("disallow"):
      ...     jnp.arange(3) + np.ones(3)  # doctest: +ELLIPSIS
      Traceback (most recent call last):
      ...
      shardax.errors.JaxRuntimeError: INVALID_ARGUMENT: Disallowed host-to-device transfer: ...
    """
    with (
        transfer_guard_host_to_device(new_val),
        transfer_guard_device_to_device(new_val),
        transfer_guard_device_to_host(new_val),
    ):
        yield


@contextlib.contextmanager
def array_garbage_collection_guard(new_val):
    """What happens while the block runs when the garbage collector frees an array that lies in a
    reference cycle: nothing, for None and "allow". The collector does not tell of such arrays, so
    that they can be neither logged nor refused.

    `new_val` has no effect: it decides only what is refused.

    Raises:
      ValueError: for other values than None, "allow", "log" and "fatal".
      NotImplementedError: for "log" and "fatal".
    """
    if new_val not in (None, "allow", "log", "fatal"):
        raise ValueError(
            "array_garbage_collection_guard: new enum value must be None or in ['allow', 'log', "
            f"'fatal'], got {new_val!r} of type {type(new_val)}."
        )
    if new_val in ("log", "fatal"):
        raise NotImplementedError(
            f"array_garbage_collection_guard: {new_val!r} is not available; 'allow' was expected. "
            "Find arrays in cycles with gc.set_debug(gc.DEBUG_SAVEALL)."
        )
    yield


class make_user_context:
    """A setting of the user's own, for which functions are traced anew.

    Args:
      default_value: what holds outside of any block; hashable.

    Example:
      >>> precise = make_user_context(False)
      >>> @jit
      ... def f(x):
      ...     return 2 * x if precise.value else x
      >>> f(1.0), precise.value
      (Array(1., dtype=float32, weak_type=True), False)
      >>> with precise(True):
      ...     print(f(1.0))
      2.0
    """

    _made = itertools.count()

    def __init__(self, default_value=None):
        self._name = f"user context {next(self._made)}"
        self._numbers = {}  # of the values that were ever set
        self.set_global(default_value)

    @property
    def value(self):
        """What is set now."""
        return self._value

    def get_global(self):
        """What is set now."""
        return self._value

    def set_global(self, value):
        """Sets the value from now on."""
        number = self._numbers.setdefault(value, len(self._numbers))
        _core.set_traced_setting(self._name, str(number))
        self._value = value

    @contextlib.contextmanager
    def __call__(self, value):
        before = self._value
        self.set_global(value)
        try:
            yield
        finally:
            self.set_global(before)
