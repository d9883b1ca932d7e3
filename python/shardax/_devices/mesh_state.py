# shardax/_devices/mesh_state.py - which meshes are current.
"""Lists that `with mesh:`, set_mesh, use_abstract_mesh and shard_map change (mesh.py,
mesh_context.py), each entry hiding those before it.
"""

from shardax._core import api as _core

meshes = []  # Mesh
abstract = []  # AbstractMesh: of set_mesh and use_abstract_mesh, and, within shard_map, its own
_words = {}


def tell():
    """Tells the core which meshes are current: what traced functions do depends on them."""
    key = (meshes[-1] if meshes else None, abstract[-1] if abstract else None)
    nothing = all(mesh is None or mesh.empty for mesh in key)
    _core.set_mesh_word(0 if nothing else _words.setdefault(key, len(_words) + 1))
