"""shardax/_explain/accelerators.py - machines that a program's time is predicted for."""

import dataclasses
import math
import numbers

from shardax._explain import words
from shardax._explain.messages import Link, all_to_all_ring

TOPOLOGIES = ("ring", "tree", "torus", "hierarchical")


@dataclasses.dataclass(frozen=True)
class Accelerators:
    """Devices with memories of their own, joined by links: the machine of a prediction by
    `Explanation.on`.

    A message of n bytes takes latency + n / bandwidth (R. Hockney, "The communication challenge for
    MPP", Parallel Computing 20, 1994). Computing takes the longer of its operations over `flops`
    and its bytes over `memory_bandwidth` (S. Williams, A. Waterman, D. Patterson, "Roofline",
    CACM 52, 2009). Collectives take what `shardax._explain.messages` says, by topology:

      ring: each device has two neighbours.
      tree: any two devices reach each other at full speed, as through a fat tree of switches.
      torus: a grid of rings, as square as the count allows.
      hierarchical: nodes of `per_node` devices, each node a ring of links; between nodes a tree of
        slower ones.

    Args:
      flops: operations a second of one device.
      memory_bandwidth: bytes a second between a device and its memory.
      link_bandwidth: bytes a second over one link, in each direction.
      latency: seconds before the first byte of a message arrives.
      memory: bytes of one device, or None where it does not matter.
      count: how many devices; None for as many as the program has.
      topology: how they are joined.
      per_node: devices of a node, in hierarchical.
      node_bandwidth, node_latency: of the links between nodes; a tenth of the bandwidth and ten
        times the latency of others unless given.

    Raises:
      ValueError: for an unknown topology, or figures that are not positive.
      TypeError: for figures that are no numbers, or counts that are no integers.

    Example:
      >>> machines = Accelerators(
      ...     flops=1e14, memory_bandwidth=2e12, link_bandwidth=1e11, latency=2e-6
      ... )
      >>> round(machines.all_reduce(8, 1_000_000) * 1e6, 2)  # microseconds
      46.81
    """

    flops: float
    memory_bandwidth: float
    link_bandwidth: float
    latency: float = 1e-6
    memory: float | None = None
    count: int | None = None
    topology: str = "ring"
    per_node: int = 8
    node_bandwidth: float | None = None
    node_latency: float | None = None

    def __post_init__(self):
        if self.topology not in TOPOLOGIES:
            raise ValueError(
                f"Accelerators: there is no topology {self.topology!r}; choose one of "
                f"{', '.join(TOPOLOGIES)}."
            )
        for name in ("count", "per_node"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, numbers.Integral):
                raise TypeError(f"Accelerators: {name} is {value!r}; it must be an integer.")
        for field in dataclasses.fields(self):
            name, value = field.name, getattr(self, field.name)
            if name == "topology" or (value is None and field.default is None):
                continue
            if not isinstance(value, numbers.Real):
                raise TypeError(f"Accelerators: {name} is {value!r}; it must be a number.")
            if name.endswith("latency"):
                if not value >= 0:
                    raise ValueError(f"Accelerators: {name} is {value}; it must not be negative.")
            elif not value > 0:
                raise ValueError(f"Accelerators: {name} is {value}; it must be positive.")

    def described(self, devices):
        """So many of these machines, in words."""
        text = words.counted(devices, "separate accelerator")
        if devices < 2:
            return text
        if self.topology == "hierarchical":
            return f"{text}, joined in nodes of {self.per_node}"
        return f"{text}, joined as a {self.topology}"

    def compute(self, operations, moved):
        """Seconds that one device takes for operations that move bytes to and from its memory."""
        return max(operations / self.flops, moved / self.memory_bandwidth)

    def all_reduce(self, devices, size, stride=1):
        """Seconds until each of `devices` has the sum of their arrays, `size` bytes each.

        stride: how far apart their numbers are: neighbours in an outer axis of a mesh lie on other
        nodes.
        """
        return self._split(devices, size, stride, "all_reduce")

    def reduce_scatter(self, devices, size, stride=1):
        """Seconds until each device has its part of the sum; each had `size` bytes."""
        return self._split(devices, size, stride, "reduce_scatter")

    def all_gather(self, devices, size, stride=1):
        """Seconds until each device has the arrays of all, `size` bytes in all."""
        return self._split(devices, size, stride, "all_gather")

    def broadcast(self, devices, size, stride=1):
        """Seconds until all devices have the array of one, `size` bytes."""
        if devices < 2:
            return 0.0
        return self._link(devices, stride).broadcast(devices, size)

    def all_to_all(self, devices, size, stride=1):
        """Seconds until each device has a part of each other's array, `size` bytes each."""
        if devices < 2:
            return 0.0
        link = self._link(devices, stride)
        if self.topology in ("ring", "torus"):
            return sum(all_to_all_ring(link, side, size) for side in self._sides(devices))
        return link.all_to_all(devices, size)

    def permute(self, devices, size, hops=1, stride=1):
        """Seconds until each device has another's data, from up to `hops` further in a ring. On a
        ring a link carries the messages of all devices on the way."""
        if devices < 2:
            return 0.0
        way = hops if self.topology == "ring" else 1
        return max(way, 1) * self._link(devices, stride).message(size)

    # ---- how devices are joined ---------------------------------------------------------------

    def _near(self):
        return Link(self.latency, 1 / self.link_bandwidth, self._reducing())

    def _far(self):
        bandwidth = self.node_bandwidth or self.link_bandwidth / 10
        latency = self.latency * 10 if self.node_latency is None else self.node_latency
        return Link(latency, 1 / bandwidth, self._reducing())

    def _reducing(self):
        # Two operands are read and one is written.
        return 3 / self.memory_bandwidth

    def _inside(self, devices, stride):
        """The number of a group's devices that share a node."""
        if self.topology != "hierarchical":
            return devices
        return math.gcd(devices, max(1, self.per_node // stride))

    def _link(self, devices, stride):
        """The slowest link that a group of devices needs."""
        return self._near() if self._inside(devices, stride) == devices else self._far()

    def _sides(self, devices):
        """The rings that a group of devices is made of."""
        if self.topology != "torus":
            return [devices]
        side = max(d for d in range(1, math.isqrt(devices) + 1) if devices % d == 0)
        return [side, devices // side] if side > 1 else [devices]

    def _split(self, devices, size, stride, what):
        """A collective in stages: along each ring, of the rest of a device's part."""
        if devices < 2:
            return 0.0
        if self.topology == "tree":
            return getattr(self._near(), what)(devices, size)
        rings = self._sides(devices)
        inside = self._inside(devices, stride)
        if self.topology == "hierarchical":
            rings = [inside] if inside > 1 else []
        time, rest = 0.0, size
        for side in rings:
            time += getattr(self._near(), f"{what}_ring")(side, rest)
            rest /= side
        if inside < devices:
            time += getattr(self._far(), what)(devices // inside, rest)
        return time
