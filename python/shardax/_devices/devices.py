# shardax/_devices/devices.py - simulated devices: names for the parts of each process's memory.
import sys

import numpy as np

import shardax._core as _core
from shardax._base.version import JAX_VERSION, __version__
from shardax._devices.memory_kinds import MEMORY_KINDS, checked_kind
from shardax.errors import JaxRuntimeError

# Device i of process p has the id p * IDS_PER_PROCESS + i, as in JAX.
IDS_PER_PROCESS = 2048


class Device:
    """A simulated CPU device. Devices of a process share its memory.

    `id` numbers them from 0, those of process p from 2048 p.

    Example:
      >>> shardax.devices()[0].platform, shardax.devices()[0].id
      ('cpu', 0)
    """

    __slots__ = ("id", "__dict__", "__weakref__")  # the class shows that devices have an id

    platform = "cpu"
    device_kind = "cpu"

    def __init__(self, id: int) -> None:
        self.id = id

    @property
    def process_index(self) -> int:
        """The number of the process that the device belongs to."""
        return process_of(self.id)

    host_id = task_id = process_index

    @property
    def local_hardware_id(self):
        """Its number among the devices of this process; None where it belongs to another one."""
        return self.id - first_id() if self._is_local else None

    @property
    def _is_local(self):
        return self.process_index == _core.process_index()

    @property
    def client(self):
        return backend

    def memory_stats(self):
        if not self._is_local:
            raise JaxRuntimeError(
                "INVALID_ARGUMENT: MemoryStats is only supported for addressable PjRt devices."
            )
        return None

    def addressable_memories(self):
        memory = Memory if self._is_local else UnaddressableMemory
        return [memory(self, kind) for kind in MEMORY_KINDS]

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
    """A memory of a device. A process has one memory; the kinds are names for it."""

    platform = "cpu"

    def __init__(self, device, kind):
        self.device = device
        self.kind = kind

    @property
    def process_index(self):
        return self.device.process_index

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


class UnaddressableMemory(Memory):
    """Memory of another process's device."""

    def addressable_by_devices(self):
        return []

    def __repr__(self):
        return "UNADDRESSABLE_MEMORY_SPACE"


_known: dict[int, Device] = {}


def device(id):
    """The device with that id; always the same object."""
    found = _known.get(id)
    return _known.setdefault(id, Device(id)) if found is None else found


def default_device():
    """The device of arrays without a given one: jax_default_device, else the first."""
    chosen = _core.config_read("jax_default_device")
    return chosen if isinstance(chosen, Device) else device(first_id())


def first_id():
    """The id of this process's first device."""
    return IDS_PER_PROCESS * _core.process_index()


def process_of(id):
    """The number of the process that the device with that id belongs to."""
    return id // IDS_PER_PROCESS if _core.process_count() > 1 else 0


def is_local(id):
    """True if the device with that id belongs to this process."""
    return process_of(id) == _core.process_index()


def check_default_device(value):
    """Refuses values of jax_default_device that are neither a device nor the name of a platform."""
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
    """The few facts about the one backend."""

    platform = "cpu"
    platform_version = "shardax"
    runtime_type = "shardax"

    def devices(self):
        return devices()

    def local_devices(self):
        return local_devices()

    def device_count(self):
        return device_count()

    def local_device_count(self):
        return local_device_count()

    def process_index(self):
        return process_index()


backend = Backend()


def refuse_other_backends(name):
    if name is None or name in ("cpu", "CPU", "") or isinstance(name, Backend):
        return
    raise RuntimeError(
        f"Unknown backend: {name!r} requested, but no platforms that are instances of {name} are "
        "present. Platforms present are: cpu"
    )


def devices(backend=None):
    """The devices of all processes, in order of their ids.

    Args:
      backend: None or "cpu".

    Returns:
      A list of devices: 8 a process, unless `config.update("jax_num_cpu_devices", n)` or
      SHARDAX_NUM_DEVICES says otherwise.

    Raises:
      RuntimeError: for another backend.

    Example:
      >>> len(shardax.devices()) == shardax.device_count()
      True
    """
    refuse_other_backends(backend)
    return [each for index in process_indices() for each in local_devices(index)]


def local_devices(process_index=None, backend=None, host_id=None):
    """The devices of this process, or of the one with a number.

    Args:
      process_index, host_id: the number of a process; `host_id` is its older name.
      backend: None or "cpu".

    Returns:
      A list of devices.

    Raises:
      ValueError: there is no such process.
      RuntimeError: for another backend.

    Example:
      >>> shardax.local_devices()[0]
      CpuDevice(id=0)
    """
    refuse_other_backends(backend)
    index = host_id if process_index is None else process_index
    index = _core.process_index() if index is None else index
    if index not in range(_core.process_count()):
        raise ValueError(f"Unknown process_index {index}")
    return [device(IDS_PER_PROCESS * index + i) for i in range(local_device_count())]


def device_count(backend=None):
    """The number of devices in all processes.

    Example:
      >>> shardax.device_count() == shardax.process_count() * shardax.local_device_count()
      True
    """
    return local_device_count(backend) * _core.process_count()


def local_device_count(backend=None):
    """The number of devices that each process has.

    Example:
      >>> shardax.local_device_count() == len(shardax.local_devices())
      True
    """
    refuse_other_backends(backend)
    count = _core.device_count()
    if count > IDS_PER_PROCESS and _core.process_count() > 1:
        raise ValueError(
            f"local_device_count: jax_num_cpu_devices is {count}, but each of several processes "
            f"has at most {IDS_PER_PROCESS} devices."
        )
    return count


def process_index(backend=None):
    """The number of this process, from 0.

    Example:
      >>> shardax.process_index()
      0
    """
    refuse_other_backends(backend)
    return _core.process_index()


def process_count(backend=None):
    """The number of processes.

    Example:
      >>> shardax.process_count()
      1
    """
    refuse_other_backends(backend)
    return _core.process_count()


def process_indices(backend=None):
    """The numbers of all processes.

    Example:
      >>> shardax.process_indices() == list(range(shardax.process_count()))
      True
    """
    return list(range(process_count(backend)))


host_id = process_index
host_count = process_count
host_ids = process_indices


def default_backend():
    """The name of the platform that computes, "cpu".

    Example:
      >>> shardax.default_backend()
      'cpu'
    """
    return "cpu"


def live_arrays(platform=None):
    """The arrays that Python holds and that are not deleted, oldest first: to look for those
    that are kept by mistake.

    Example:
      >>> before = len(shardax.live_arrays())
      >>> x = jnp.zeros(3)
      >>> len(shardax.live_arrays()) - before
      1
    """
    refuse_other_backends(platform)
    return _core.live_arrays()


def print_environment_info(return_string=False):
    """Prints versions, the machine and the devices, for reports of errors; or returns the text.

    Example:
      >>> "device_count" in shardax.print_environment_info(return_string=True)
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
            f"device info: {local_device_count()} simulated devices, platform cpu, "
            f"{_core.thread_count()} threads",
            f"device_count: {device_count()}",
            f"process_count: {process_count()}",
            f"platform: {platform.uname()}",
        ]
    )
    if return_string:
        return text
    return print(text)
