# shardax/_devices/mesh_state.py - the current meshes.
"""Lists that `with mesh:`, set_mesh, use_abstract_mesh and shard_map change (mesh.py,
mesh_context.py), each entry hiding those before it. A thread has lists of its own.
"""

import threading

from shardax._base.forks import held_over_forks
from shardax._core import api as _core


class _Thread(threading.local):
    def __init__(self):
        self.meshes = []  # Mesh
        # AbstractMesh: of set_mesh and use_abstract_mesh, and, within shard_map, its own
        self.abstract = []


thread = _Thread()
# Of pairs of meshes: the address of the first of equal ones, which is kept here. A handler of
# signals may come in between.
_words, _lock = {}, held_over_forks(threading.RLock())


def tell():
    """Tells the core which meshes are current, on which traced functions depend."""
    stacks = thread.meshes, thread.abstract
    key = tuple(stack[-1] if stack and not stack[-1].empty else None for stack in stacks)
    with _lock:
        word = 0 if key == (None, None) else _words.setdefault(key, id(key))
    _core.set_mesh_word(word, _label(*key))


def _label(mesh, set_mesh):
    """The label of results whose operands lie nowhere in particular: nothing unless the mesh was
    set by set_mesh. They may meet arrays on other devices.
    """
    if mesh is None or set_mesh is None or set_mesh.manual_axes or set_mesh.size != mesh.size:
        return None
    kinds = set_mesh._kinds() or "p" * len(set_mesh.axis_names)
    names = tuple(map(str, set_mesh.axis_names))
    return names, set_mesh.axis_sizes, mesh.device_ids_in_order, (), True, kinds
