"""shardax/_transform/export/symbolic_results.py - eval_shape of arrays with symbolic sizes.

As functions are exported for such sizes (symbolic_programs.py), so they are staged here for many
values of the variables. Only the shapes of results are compared.
"""

import itertools

from shardax import tree_util
from shardax._base.symbolic_dims import has_symbolic_sizes, is_symbolic_dim
from shardax._base.symbolic_shapes import concrete
from shardax._transform.export.symbolic_programs import MORE, Columns, Fit, environments, scope_of
from shardax._transform.shape_structs import ShapeDtypeStruct
from shardax._transform.stages import result_shapes

# Values that a function may refuse, because they are too small say, before its error is raised.
_REFUSED = 3


def _refuse(name, why):
    raise NotImplementedError(
        f"eval_shape: the shapes of {name}'s results are not known for symbolic sizes: {why}. It "
        "was staged for many values of the dimension variables. Call it with sizes that are known."
    )


def symbolic_result_shapes(fun, args, kwargs):
    """The results of fun(*args, **kwargs) as ShapeDtypeStructs, whose sizes may be symbolic.

    Raises:
      NotImplementedError: where a size is no expression of the variables that is known here.
    """
    leaves, tree = tree_util.tree_flatten((args, kwargs))
    shapes = [leaf.shape for leaf in leaves if has_symbolic_sizes(leaf)]
    name = getattr(fun, "__name__", "the function")
    scope = scope_of(name, (args, kwargs))
    variables = set().union(*(n.variables() for s in shapes for n in s if is_symbolic_dim(n)))
    columns = Columns(scope, sorted(variables), shapes)
    wanted = len(columns.sizes) + MORE

    envs, found, refused = [], [], []
    for env in itertools.islice(environments(scope, sorted(variables), shapes), wanted + 8):
        structs = [
            ShapeDtypeStruct(concrete(leaf.shape, env), leaf.dtype, weak_type=leaf.weak_type)
            if has_symbolic_sizes(leaf)
            else leaf
            for leaf in leaves
        ]
        args, kwargs = tree.unflatten(structs)
        try:
            found.append(result_shapes(fun, args, kwargs))
            envs.append(env)
        except Exception as error:
            refused.append(error)
            if len(refused) == _REFUSED:
                raise refused[0]  # noqa: B904 - the first says best what is wrong
        if len(found) == wanted:
            break

    fit = Fit(name, columns, envs, _refuse)

    def joined(first, *others):
        if len({(s.dtype, len(s.shape)) for s in (first, *others)}) > 1:
            _refuse(name, f"it gives other types for other sizes, {first} among them")
        sizes = zip(first.shape, *(other.shape for other in others))
        shape = [n[0] if len(set(n)) == 1 else fit(list(n), "the size of a result") for n in sizes]
        return first if shape == list(first.shape) else first.update(shape=tuple(shape))

    return tree_util.tree_map(joined, *found)
