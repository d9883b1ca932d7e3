# shardax/_devices/gspmd.py - arrays cut into tiles, and which device has which.
"""Shardings in the form of XLA's partitioner (GSPMD: Xu et al. 2021, arXiv:2105.04663): an array is
cut into a grid of tiles, and a list names the device of each; there is no mesh.
"""

import itertools
import math
import operator

import numpy as np


class HloSharding:
    """A grid of tiles and, row by row, the number of the device that has each.

    Args:
      tiles: into how many parts each dimension is cut; None where every device has all.
      devices: the devices' numbers, row by row over `tiles`.
      replicate_on_last_tile_dim: the last entry of `tiles` is no dimension of arrays, but counts
        the devices that have the same tile.
      steps: (shape, permutation) whose transpose of 0, 1, ... is `devices`, where it is one.
    """

    def __init__(self, tiles, devices=(), replicate_on_last_tile_dim=False, steps=None):
        self._tiles = None if tiles is None else [int(n) for n in tiles]
        self._order = [int(d) for d in devices]
        self._last = bool(replicate_on_last_tile_dim)
        self._steps = steps

    @classmethod
    def of_mesh(cls, sizes, entries, ndim):
        """For arrays of `ndim` dimensions, where `entries` has the positions of the mesh axes (of
        those sizes) that split each."""
        axes = [list(entry) for entry in entries] + [[] for _ in range(ndim - len(entries))]
        rest = [i for i in range(len(sizes)) if not any(i in entry for entry in axes)]
        tiles = [math.prod(sizes[i] for i in entry) for entry in axes]
        if math.prod(tiles) == 1:
            return cls(None)
        order = [i for entry in axes for i in entry] + rest
        again = math.prod(sizes[i] for i in rest)
        devices = np.arange(math.prod(sizes)).reshape(sizes).transpose(order)
        tiles = tiles if again == 1 else [*tiles, again]
        return cls(tiles, devices.reshape(-1), again > 1, _merged(sizes, order))

    def is_replicated(self):
        return self._tiles is None

    def is_tiled(self):
        return self._tiles is not None

    def is_manual(self):
        return False

    def is_unreduced(self):
        return False

    def is_tile_assignment_iota(self):
        return self._steps is not None

    def tuple_elements(self):
        return []

    def subgroup_types(self):
        return []

    def replicate_on_last_tile_dim(self):
        return self._last

    def tile_assignment_dimensions(self):
        return [] if self._tiles is None else list(self._tiles)

    def tile_assignment_devices(self):
        return list(self._order)

    def num_dimensions(self):
        return len(self._tiles or ())

    def num_devices(self):
        return len(self._order)

    def get_axis_sizes(self):
        """The sizes of the smallest mesh whose axes make these tiles."""
        return self.axes()[0]

    def axes(self):
        """(the sizes of that mesh, for each entry of the tiles the positions of its axes)."""
        tiles = self.tile_assignment_dimensions()
        shape, permutation = self._steps or (tiles, range(len(tiles)))
        cuts = {1}
        for sizes in (tiles, [shape[i] for i in permutation]):
            cuts |= set(itertools.accumulate(reversed(sizes), operator.mul))
        edges = sorted(cuts)
        # As the tiles have them; the mesh has them in the order of the shape.
        inner = [b // a for a, b in zip(edges, edges[1:])][::-1]
        owners = _owners(inner, [shape[i] for i in permutation])
        places = [(permutation[k], at) for at, k in enumerate(owners)]
        position = [sorted(places).index(place) for place in places]
        sizes = [inner[at] for _, at in sorted(places)]
        entries = [[] for _ in tiles]
        for at, k in enumerate(_owners(inner, tiles)):
            entries[k].append(position[at])
        return sizes, entries

    def _key(self):
        return (tuple(self._tiles or ()), tuple(self._order), self._last)

    def __eq__(self, other):
        return isinstance(other, HloSharding) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        if self._tiles is None:
            return "{replicated}"
        order = ",".join(map(str, self._order))
        if self._steps is not None:
            shape, permutation = self._steps
            order = f"<=[{','.join(map(str, shape))}]"
            if list(permutation) != sorted(permutation):
                order += f"T({','.join(map(str, permutation))})"
        last = " last_tile_dim_replicate" if self._last else ""
        return f"{{devices=[{','.join(map(str, self._tiles))}]{order}{last}}}"


def _merged(sizes, order):
    """The shape and permutation with as few dimensions as they can have."""
    kept = [i for i in range(len(sizes)) if sizes[i] != 1]
    order = [kept.index(i) for i in order if sizes[i] != 1]
    groups = []
    for i in order:
        if groups and groups[-1][-1] + 1 == i:
            groups[-1].append(i)
        else:
            groups.append([i])
    by_place = sorted(groups)
    shape = [math.prod(sizes[kept[i]] for i in group) for group in by_place]
    return (shape or [1]), ([by_place.index(group) for group in groups] or [0])


def _owners(inner, sizes):
    """For each of `inner`, the one of `sizes` that it is a factor of; factors come in the sizes'
    order."""
    out, k, left = [], 0, sizes[0] if sizes else 1
    for factor in inner:
        while left == 1:
            k, left = k + 1, sizes[k + 1]
        out.append(k)
        left //= factor
    return out


def tiles_of(where, ndim):
    """The tiles of a sharding, for arrays of `ndim` dimensions; its devices are numbered in its
    order."""
    names, sizes, _, spec, *_ = where._description(ndim)
    positions = [[names.index(name) for name in entry] for entry in spec]
    return HloSharding.of_mesh(sizes, positions, ndim)
