"""shardax/_stablehlo/collectives.py - StableHLO text of collectives; nothing runs it."""

import numpy as np

from shardax._stablehlo.structure import Value


class Collectives:
    """Methods that add a collective to a block. They are a part of the class that lowers equations
    (operations.py), whose `axes` has the sizes of the mapped axes in scope."""

    def _groups(self, axes, groups):
        axes = axes if isinstance(axes, (tuple, list)) else (axes,)
        if groups is not None:
            return [list(group) for group in groups]
        count = int(np.prod([self.axes.get(axis, 1) for axis in axes]))
        total = int(np.prod(list(self.axes.values()) or [1]))
        sizes = list(self.axes.values())
        ids = np.arange(total).reshape(sizes or [1])
        last = [list(self.axes).index(axis) for axis in axes if axis in self.axes]
        rest = [i for i in range(len(sizes)) if i not in last]
        return ids.transpose(rest + last).reshape(-1, count).tolist() if last else [[0]]

    def _all_reduce(self, block, params, operands, results, applies):
        groups = self._groups(params["axes"], params.get("axis_index_groups"))
        out = []
        for x, y in zip(operands, results):
            out += self.emit(block, "all_reduce", [x], [y], groups=groups, applies=applies)
        return out

    def _psum(self, *args):
        return self._all_reduce(*args, applies="add")

    _psum_invariant = _psum

    def _pmax(self, *args):
        return self._all_reduce(*args, applies="maximum")

    def _pmin(self, *args):
        return self._all_reduce(*args, applies="minimum")

    def _all_gather(self, block, params, operands, results):
        groups = self._groups(params["axis_name"], params.get("axis_index_groups"))
        dim, (x,) = params["all_gather_dimension"], operands
        if not params["tiled"]:
            shape = (*x.shape[:dim], 1, *x.shape[dim:])
            x = self.emit(block, "reshape", [x], [Value(shape, x.dtype)])[0]
        return self.emit(block, "all_gather", [x], results, dim=dim, groups=groups)

    _all_gather_invariant = _all_gather

    def _reduce_scatter(self, block, params, operands, results):
        groups = self._groups(params["axis_name"], params.get("axis_index_groups"))
        dim, (y,) = params["scatter_dimension"], results
        attributes = {"groups": groups, "dim": dim, "applies": "add"}
        if params["tiled"]:
            return self.emit(block, "reduce_scatter", operands, results, **attributes)
        part = Value((*y.shape[:dim], 1, *y.shape[dim:]), y.dtype)
        self.emit(block, "reduce_scatter", operands, [part], **attributes)
        return self.emit(block, "reshape", [part], results)

    def _ppermute(self, block, params, operands, results):
        pairs = np.reshape(params["perm"], (-1, 2)).tolist()
        out = []
        for x, y in zip(operands, results):
            out += self.emit(block, "collective_permute", [x], [y], pairs=pairs)
        return out

    def _all_to_all(self, block, params, operands, results):
        groups = self._groups(params["axis_name"], params.get("axis_index_groups"))
        attributes = {"split": params["split_axis"], "concat": params["concat_axis"]}
        return self.emit(block, "all_to_all", operands, results, groups=groups, **attributes)

    def _axis_index(self, block, params, operands, results):
        index = Value((), "uint32")
        self.emit(block, "partition_id", [], [index])
        return self.emit(block, "convert", [index], results)
