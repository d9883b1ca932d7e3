"""shardax/_stablehlo/shardings.py - Shardy text of meshes and shardings."""


class Meshes:
    """The meshes that a module's values are split over, each under a name."""

    def __init__(self):
        self.names = {}  # by the axes' names and sizes

    def size(self):
        """The devices of the largest mesh; 1 where there is none."""
        counts = [1]
        for axes in self.names:
            count = 1
            for _, extent in axes:
                count *= extent
            counts.append(count)
        return max(counts)

    def lines(self):
        """`sdy.mesh` operations."""
        out = []
        for axes, name in self.names.items():
            sizes = ", ".join(f'"{axis}"={extent}' for axis, extent in axes)
            out.append(f"  sdy.mesh @{name} = <[{sizes}]>")
        return out

    def split(self, sharding, ndim, unconstrained=()):
        """'<@mesh, [{"x"}, {}]>' for a NamedSharding of arrays with that many dimensions; "" for
        None, other shardings and meshes without axes. Dimensions that are left open show as {?}.
        """
        mesh = getattr(sharding, "mesh", None)
        if mesh is None or mesh.empty:
            return ""
        key = tuple((str(name), size) for name, size in mesh.shape.items())
        known = len(self.names)
        name = self.names.setdefault(key, f"mesh_{known - 1}" if known else "mesh")
        spec = (*sharding.spec, *(None,) * ndim)[:ndim]
        entries = []
        for d, entry in enumerate(spec):
            axes = entry if isinstance(entry, tuple) else (entry,)
            shown = [f'"{axis}"' for axis in axes if isinstance(axis, str)]
            if d in unconstrained or d in sharding.unconstrained_dims:
                shown.append("?")
            entries.append(f"{{{', '.join(shown)}}}")
        text = f"@{name}, [{', '.join(entries)}]"
        if sharding.spec.unreduced:
            listed = [axis for axis, _ in key if axis in sharding.spec.unreduced]
            text += ", unreduced={" + ", ".join(f'"{axis}"' for axis in listed) + "}"
        return f"<{text}>"
