# shardax/_devices/devices.py - simulated devices: names for the parts of one memory.
import sys

import numpy as np

import shardax._core as _core
from shardax._base.version import JAX_VERSION, __version__
from shardax._devices.memory_kinds import MEMORY_KINDS, checked_kind


class Device:
    """A simulated CPU device. All share one memory; `id` numbers them from 0."""

    __slots__ = ("id", "__dict__", "__weakref__")  # the class shows that devices have an id

    platform = "cpu"
    device_kind = "cpu"
    process_index = 0
    host_id = 0
    task_id = 0

    def __init__(self, id):
        self.id = id

    @property
    def local_hardware_id(self):
        return self.id

    @property
    def client(self):
        return backend

    def memory_stats(self):
        return None

    def addressable_memories(self):
        return [Memory(self, kind) for kind in MEMORY_KINDS]

    def memory(self, kind):
        """The memory of that kind."""
        return Memory(self, checked_kind(kind, self.platform))

    def default_memory(self):
        return Memory(self, "device")

    def live_buffers(self):
        return []

    def __call__(self):
        """Itself: older programs ask an array for its place with `x.device()`."""
        return self

    def __repr__(self):
        return f"CpuDevice(id={self.id})"

    def __str__(self):
        return f"cpu:{self.id}"

    def __reduce__(self):
        return device, (self.id,)

    def __lt__(self, other):
        return self.id < other.id


class Memory:
    """What a device can address. There is one memory; the kinds are names for it."""

    platform = "cpu"
    process_index = 0

    def __init__(self, device, kind):
        self.device = device
        self.kind = kind

    def addressable_by_devices(self):
        return [self.device]

    def __eq__(self, other):
        return isinstance(other, Memory) and (self.device, self.kind) == (other.device, other.kind)

    def __hash__(self):
        return hash((self.device.id, self.kind))

    @property
    def id(self):
        """Its number among the memories of all devices."""
        return self.device.id * len(MEMORY_KINDS) + MEMORY_KINDS.index(self.kind)

    @property
    def _name(self):
        return self.kind if self.kind != "device" else "cpu_device"

    def __repr__(self):
        return f"{self._name.upper()}_{self.id}"

    def __str__(self):
        name = "".join(part.capitalize() for part in self._name.split("_"))
        return f"{name}Memory(id={self.id}, process_index={self.process_index}, client=cpu)"


_known: dict[int, Device] = {}


def device(id):
    """The device with that id; always the same object."""
    found = _known.get(id)
    if found is None:
        found = _known[id] = Device(id)
    return found


def default_device():
    """Where arrays lie that nothing has been said about: jax_default_device, else the first."""
    chosen = _core.config_read("jax_default_device")
    return chosen if isinstance(chosen, Device) else device(0)


def check_default_device(value):
    """Refuses what jax_default_device cannot be: neither a device nor the name of a platform."""
    if isinstance(value, Device):
        return
    if not isinstance(value, str) or value not in ("cpu", "gpu", "tpu"):
        raise ValueError(
            "jax.default_device must be passed either a Device object (e.g. "
            "`jax.devices('cpu')[0]`) or a platform name string like 'cpu' or 'gpu', got: "
            f"{value!r}"
        )
    refuse_other_backends(value)


class Backend:
    """What little there is to say of the one backend."""

    platform = "cpu"
    platform_version = "shardax"
    runtime_type = "shardax"

    def devices(self):
        return devices()

    def local_devices(self):
        return devices()

    def device_count(self):
        return device_count()

    def local_device_count(self):
        return device_count()

    def process_index(self):
        return 0


backend = Backend()


def refuse_other_backends(name):
    if name is None or name in ("cpu", "CPU", "") or isinstance(name, Backend):
        return
    raise RuntimeError(
        f"Unknown backend: {name!r} requested, but no platforms that are instances of {name} are "
        "present. Platforms present are: cpu"
    )


def devices(backend=None):
    """All devices, in order of their ids."""
    refuse_other_backends(backend)
    return [device(i) for i in range(_core.device_count())]


def local_devices(process_index=None, backend=None, host_id=None):
    """The devices of this process, which are all."""
    refuse_other_backends(backend)
    index = host_id if process_index is None else process_index
    if index not in (None, 0):
        raise ValueError(f"Unknown process_index {index}")
    return devices()


def device_count(backend=None):
    """How many devices there are."""
    refuse_other_backends(backend)
    return _core.device_count()


def local_device_count(backend=None):
    """How many devices this process has: all."""
    return device_count(backend)


def process_index(backend=None):
    """0: there is one process."""
    refuse_other_backends(backend)
    return 0


def process_count(backend=None):
    """1: there is one process."""
    refuse_other_backends(backend)
    return 1


def process_indices(backend=None):
    """[0]."""
    refuse_other_backends(backend)
    return [0]


host_id = process_index
host_count = process_count
host_ids = process_indices


def default_backend():
    """'cpu'."""
    return "cpu"


def live_arrays(platform=None):
    """The arrays that Python holds and that are not deleted, oldest first: to look for those
    that are kept by mistake.

    Example:
      >>> before = len(live_arrays())
      >>> x = jnp.zeros(3)
      >>> len(live_arrays()) - before
      1
    """
    refuse_other_backends(platform)
    return _core.live_arrays()


def print_environment_info(return_string=False):
    """Prints versions, the machine and the devices, for reports of errors; or returns the text.

    Example:
      >>> "device_count" in print_environment_info(return_string=True)
      True
    """
    import platform  # for this report alone

    text = "\n".join(
        [
            f"shardax: {__version__}",
            f"jax:    {JAX_VERSION}, which this package follows",
            f"jaxlib: {JAX_VERSION}",
            f"numpy:  {np.__version__}",
            f"python: {sys.version}",
            f"device info: {device_count()} simulated devices, platform cpu, "
            f"{_core.thread_count()} threads",
            f"device_count: {device_count()}",
            f"process_count: {process_count()}",
            f"platform: {platform.uname()}",
        ]
    )
    if return_string:
        return text
    return print(text)
