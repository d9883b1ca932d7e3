# shardax/_devices/memory_kinds.py - names for the memory of this machine; arrays show theirs.
import enum

MEMORY_KINDS = ("device", "pinned_host", "unpinned_host")


def checked_kind(kind, platform="cpu"):
    """`kind` if there is such a memory, else ValueError."""
    if kind is not None and kind not in MEMORY_KINDS:
        raise ValueError(
            f"Could not find memory addressable by device {platform}. Device {platform} can "
            f"address the following memory kinds: {', '.join(MEMORY_KINDS)}. Got memory kind: "
            f"{kind}"
        )
    return kind


def recorded_kind(kind):
    """A kind as the core knows it: "" for that of arrays that were not brought to any."""
    return "" if kind in (None, "device") else kind


class Space(enum.Enum):
    """The places where an array may be said to lie: Device, Host, Any.

    Example:
      >>> shardax.memory.Space.Host
      MemorySpace.Host
    """

    Device = enum.auto()
    Host = enum.auto()
    Any = enum.auto()

    @property
    def kind(self):
        """The kind of memory that arrays show which are brought there."""
        return "pinned_host" if self is Space.Host else "device"

    def __repr__(self):
        return f"MemorySpace.{self.name}"


Space.__module__ = "shardax.memory"
