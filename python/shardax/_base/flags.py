# shardax/_base/flags.py - the context managers that change a flag for a while.
import contextlib
import itertools
import threading

import shardax._core as _core

_SCOPE_DOC = """{about} Sets {flag} while the block runs; afterwards the value that
config.update sets holds.

Example:
  >>> with shardax.{name}({value}):
  ...     {line}
  {prints}
"""


def _scope(flag, about, value=True, example=None):
    """The context manager of a flag; `example` is (its argument, a line within it, the printed
    text), unless it reads the flag."""
    @contextlib.contextmanager
    def scope(new_val=True):
        _core.config_enter(flag, new_val)
        try:
            yield
        finally:
            _core.config_leave(flag)

    scope.__name__ = scope.__qualname__ = flag.removeprefix("jax_")
    argument, line, prints = example or (repr(value), f"shardax.config.{flag}", repr(value))
    scope.__doc__ = _SCOPE_DOC.format(
        about=about, flag=flag, name=scope.__name__, value=argument, line=line, prints=prints
    )
    return scope


class enable_x64(contextlib.ContextDecorator):
    """Sets jax_enable_x64 in this thread while the block, or the decorated function, runs.

    Example:
      >>> with shardax.enable_x64():
      ...     jnp.ones(2).dtype
      dtype('float64')
    """

    def __init__(self, new_val=True) -> None:
        self.value = bool(new_val)

    def _recreate_cm(self):  # each call of a decorated function has a state of its own
        return enable_x64(self.value)

    def __enter__(self):
        self.before = _core.override_x64(self.value)

    def __exit__(self, *_):
        _core.override_x64(self.before)


class disable_x64(enable_x64):
    """Clears jax_enable_x64 in this thread while the block runs."""

    def __init__(self) -> None:
        super().__init__(False)


debug_nans = _scope("jax_debug_nans", "Raises FloatingPointError where a result is NaN.")
debug_infs = _scope("jax_debug_infs", "Raises FloatingPointError where a result is infinite.")
_disable_jit = _scope("jax_disable_jit", "Calls jitted functions as they are.")


def disable_jit(disable=True):
    """Sets jax_disable_jit while the block runs: jitted functions are called as they are.

    Example:
      >>> with shardax.disable_jit():
      ...     shardax.jit(lambda x: x + 1)(1)
      2
    """
    return _disable_jit(disable)


log_compiles = _scope("jax_log_compiles", "Logs each compilation.")
no_tracing = _scope("jax_no_tracing", "Raises where a function would be traced anew.")
checking_leaks = _scope("jax_check_tracer_leaks", "Raises where a tracer outlives its function.")
check_tracer_leaks = checking_leaks
explain_cache_misses = _scope("jax_explain_cache_misses", "Logs why a function is traced anew.")
default_device = _scope(
    "jax_default_device",
    "Chooses the device of new arrays.",
    example=("shardax.devices()[1]", "jnp.ones(2).device", "CpuDevice(id=1)"),
)
default_matmul_precision = _scope(
    "jax_default_matmul_precision", "Chooses the precision of products.", "float32"
)
default_prng_impl = _scope("jax_default_prng_impl", "Chooses the generator of new keys.", "rbg")
threefry_partitionable = _scope(
    "jax_threefry_partitionable", "Chooses the stream of threefry's keys."
)
numpy_rank_promotion = _scope(
    "jax_numpy_rank_promotion", "Decides whether broadcasting may add dimensions.", "raise"
)
numpy_dtype_promotion = _scope(
    "jax_numpy_dtype_promotion", "Decides which dtypes promote.", "strict"
)
legacy_prng_key = _scope("jax_legacy_prng_key", "Decides whether raw keys are taken.", "warn")
debug_key_reuse = _scope("jax_debug_key_reuse", "Raises where a key is used twice.")
enable_custom_prng = _scope("jax_enable_custom_prng", "Makes PRNGKey give typed keys.")
auto_pcast = _scope("jax_auto_pcast", "Lets shard_map cast invarying operands to varying ones.")
enable_checks = _scope("jax_enable_checks", "Verifies programs between transformations.")
allow_f16_reductions = _scope("jax_allow_f16_reductions", "Allows sums in 16 bits.")
no_execution = _scope("jax_no_execution", "Raises where a program would run.")
softmax_custom_jvp = _scope(
    "jax_softmax_custom_jvp", "Lets nn.softmax have a derivative rule of its own."
)
transfer_guard_device_to_device = _scope(
    "jax_transfer_guard_device_to_device", "Guards transfers between devices.", "log"
)
transfer_guard_device_to_host = _scope(
    "jax_transfer_guard_device_to_host", "Guards transfers from devices to the host.", "log"
)
transfer_guard_host_to_device = _scope(
    "jax_transfer_guard_host_to_device", "Guards transfers from the host to devices.", "log"
)


@contextlib.contextmanager
def transfer_guard(new_val):
    """Guards transfers between the host and devices, and between devices, while the block runs.

    Arguments of ops that are NumPy arrays or Python numbers are moved to a device; device_put moves
    explicitly. "log" and "disallow" leave explicit transfers alone, "log_explicit" and
    "disallow_explicit" do not.

    Raises:
      ValueError: for other levels than these and "allow".

    Example:
      >>> with shardax.transfer_guard("disallow"):
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
    """The treatment of arrays that the garbage collector frees while the block runs.

    Nothing happens, for None and "allow". The collector does not tell of arrays in a reference
    cycle, so they can be neither logged nor refused.

    `new_val` has no effect: it decides only what is refused.

    Raises:
      NotImplementedError: for other levels.

    Example:
      >>> with shardax.array_garbage_collection_guard("allow"):
      ...     jnp.ones(1)
      Array([1.], dtype=float32)
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
    """A setting of the user's own, for which functions are traced anew. Threads have own blocks.

    Args:
      default_value: what holds outside of any block; hashable.

    Example:
      >>> precise = shardax.make_user_context(False)
      >>> @shardax.jit
      ... def f(x):
      ...     return 2 * x if precise.value else x
      >>> f(1.0), precise.value
      (Array(1., dtype=float32, weak_type=True), False)
      >>> with precise(True):
      ...     print(f(1.0))
      2.0
    """

    _made = itertools.count()
    _lock = threading.Lock()  # of the numbers that are given

    def __init__(self, default_value=None) -> None:
        with self._lock:
            self._name = f"user context {next(self._made)}"
        self._numbers = {}  # of the values that were ever set
        self._thread = threading.local()  # has the value and the number of its innermost block
        self.set_global(default_value)

    @property
    def value(self):
        """The present value, in this thread."""
        return getattr(self._thread, "value", self._value)

    def get_global(self):
        """The value outside of any block."""
        return self._value

    def set_global(self, value):
        """Sets the value outside of any block, from now on."""
        _core.set_traced_setting(self._name, self._number(value))
        self._value = value

    def _number(self, value):
        with self._lock:
            return str(self._numbers.setdefault(value, len(self._numbers)))

    @contextlib.contextmanager
    def __call__(self, value):
        number, before = self._number(value), dict(vars(self._thread))
        _core.set_traced_setting_of_thread(self._name, number)
        self._thread.value, self._thread.number = value, number
        try:
            yield
        finally:
            vars(self._thread).clear()
            vars(self._thread).update(before)
            _core.set_traced_setting_of_thread(self._name, before.get("number", ""))
