"""shardax/_base/api_errors.py - texts of the errors that transformations raise; called from C++.

Each function builds one text and raises. They run only where something is wrong, so that the paths
that work stay in C++.
"""

import inspect

from shardax import tree_util


def argument_paths(fun, args, kwargs, statics):
    """One name per leaf of (args, kwargs) as the user would write it: x, a['k'][1], args[0],
    k['a'].

    `statics`: positions and names of arguments that are not to be listed.
    """
    try:
        signature = inspect.signature(fun)
        bound, parameters = signature.bind(*args, **kwargs), signature.parameters
    except (TypeError, ValueError):
        return _plain_paths(args, kwargs, statics)
    paths = []
    position = 0
    keywords = {}
    for name, value in bound.arguments.items():
        kind = parameters[name].kind
        if kind == inspect.Parameter.VAR_POSITIONAL:
            for i, item in enumerate(value):
                if position not in statics:
                    paths += _paths(f"{name}[{i}]", item)
                position += 1
        elif kind == inspect.Parameter.VAR_KEYWORD:
            keywords |= {key: (f"{name}['{key}']", item) for key, item in value.items()}
        elif name in kwargs and kind != inspect.Parameter.POSITIONAL_ONLY:
            keywords[name] = (name, value)
        else:
            if position not in statics:
                paths += _paths(name, value)
            position += 1
    for key in sorted(keywords):
        if key not in statics:
            paths += _paths(*keywords[key])
    return paths


def _plain_paths(args, kwargs, statics):
    paths = []
    for i, value in enumerate(args):
        if i not in statics:
            paths += _paths(f"args[{i}]", value)
    for key in sorted(kwargs):
        if key not in statics:
            paths += _paths(f"kwargs['{key}']", kwargs[key])
    return paths


def _paths(head, tree):
    return [head + tree_util.keystr(path) for path, _ in tree_util.tree_leaves_with_path(tree)]


def not_an_array(fun, leaf, path):
    if isinstance(getattr(leaf, "shape", None), tuple) and hasattr(leaf, "dtype"):
        shape = ",".join(map(str, leaf.shape))
        raise TypeError(
            f"Argument '{path}' of shape {leaf.dtype}[{shape}] of type {type(leaf)} is not a valid "
            "JAX type. It says what an array is like and has no value: shardax.eval_shape and "
            "lower take it."
        )
    raise TypeError(
        f"Error interpreting argument to {fun} as an abstract array. The problematic value is of "
        f"type {type(leaf)} and "
        f"was passed to the function at path {path}.\n"
        "This typically means that a jit-wrapped function was called with a non-array argument, "
        "and this argument was "
        "not marked as static using the static_argnums or static_argnames parameters of "
        "shardax.jit (static_broadcasted_argnums of shardax.pmap)."
    )


def not_an_output(where, result, api, leaf):
    if hasattr(leaf, "addupdate"):  # a mutable array reference
        paths = [p for p, value in tree_util.tree_leaves_with_path(result) if value is leaf]
        leaf.returned(f"{where} traced for {api}", paths[0])
    if api in ("vmap", "jvp", "vjp"):
        raise TypeError(
            f"Output from batched function {leaf!r} with type {type(leaf)} is not a valid JAX type"
        )
    component = ""
    for path, value in tree_util.tree_leaves_with_path(result):
        if value is leaf and path:
            component = f" at output component {tree_util.keystr(path)}"
            break
    if type(leaf).__name__ == "ShapeDtypeStruct":
        raise TypeError(
            f"function {where} traced for {api} returned a ShapeDtypeStruct{component}: {leaf}. A "
            "ShapeDtypeStruct does not have a value; jnp.zeros_like makes an array of one."
        )
    raise TypeError(
        f"function {where} traced for {api} returned a value of type {type(leaf)}{component}, "
        "which is not a valid JAX type"
    )


def inconsistent_sizes(api, fun, args, kwargs, axes, axis_size):
    """vmap got inconsistent sizes ..., naming each argument."""
    paths = argument_paths(fun, args, kwargs, [])
    leaves = tree_util.tree_leaves((args, kwargs))
    sizes = {}
    for path, leaf, axis in zip(paths, leaves, axes, strict=True):
        if axis is not None:
            shape = ",".join(map(str, leaf.shape))
            text = f"axis {axis} of {_what(path, kwargs)} of type {leaf.dtype}[{shape}]"
            sizes.setdefault(leaf.shape[axis], []).append(text)
    lines = []
    if axis_size >= 0:
        lines.append(f"  * the `axis_size` argument was {axis_size}")
    ordered = sorted(sizes.items(), key=lambda item: -len(item[1]))
    for i, (size, where) in enumerate(ordered):
        if len(where) == 1:
            lines.append(f"  * one axis had size {size}: {where[0]}")
        else:
            most = "most" if i == 0 else "some"
            lines.append(f"  * {most} axes ({len(where)} of them) had size {size}, e.g. {where[0]}")
    raise ValueError(
        f"{api} got inconsistent sizes for array axes to be mapped:\n" + ";\n".join(lines)
    )


def _what(path, kwargs):
    head = path.split("[")[0].split(".")[0]
    if head in kwargs:
        return f"kwargs['{head}']{path[len(head) :]}"
    return path if path.startswith("kwargs[") else f"argument {path}"


class PytreeLeaf:
    """Stands for a leaf in the errors below."""


def in_axes_mismatch(api, in_axes, fun, args, kwargs):
    """in_axes is no tree prefix of the positional arguments."""
    args = tree_util.tree_map(lambda _: PytreeLeaf(), args)
    if not isinstance(in_axes, tuple | list):
        raise TypeError(
            f"{api} in_axes must be an int, None, or a tuple of entries corresponding to the "
            "positional arguments passed "
            f"to the function, but got {in_axes}."
        )
    if len(in_axes) != len(args) and api == "vmap":
        raise ValueError(
            "vmap in_axes must be an int, None, or a tuple of entries corresponding to the "
            "positional arguments passed "
            f"to the function, but got len(in_axes)={len(in_axes)}, len(args)={len(args)}"
        )
    if api == "vmap":
        not_a_prefix("vmap in_axes", tuple(in_axes), args)
    detail = _first_prefix_error((tuple(in_axes),), (args,), "pmap in_axes")
    text = (
        f"{detail}\n\nThe 'full pytree' here is the tuple of arguments passed positionally to "
        "the pmapped function, and "
        "the value of `in_axes` must be a tree prefix of that tuple. But it was not a prefix.\n\n"
    )
    if kwargs:
        text += (
            "When some arguments are passed by keyword to the pmapped function, they are not "
            "included in the comparison "
            "to `in_axes`. Instead, each argument passed by keyword is mapped over its leading "
            "axis.\n\n"
        )
    if len(args) == 1 and isinstance(args[0], tuple | list) and len(in_axes) == len(args[0]):
        text += "To map the components of a single argument, wrap in_axes in a tuple once more.\n\n"
    raise ValueError(
        text + "Check that the value of the `in_axes` argument to `pmap` is a tree prefix of the "
        "tuple of arguments passed "
        "positionally to the pmapped function."
    )


def out_axes_mismatch(api, out_axes, result):
    """out_axes is no tree prefix of the result."""
    not_a_prefix(f"{api} out_axes", out_axes, result)


def not_a_prefix(name, prefix, full):
    """Raises the error of `prefix`, named `name`, which is no tree prefix of `full`."""
    full = tree_util.tree_map(lambda _: PytreeLeaf(), full)
    errors = tree_util.prefix_errors(prefix, full, name, is_leaf=lambda x: x is None)
    details = "\n  ".join(map(str, errors))
    raise ValueError(
        f"{name} specification must be a tree prefix of the corresponding value; \n"
        f"  Mismatch details ({len(errors)} found):\n  {details}"
    )


def _first_prefix_error(prefix, full, name):
    errors = tree_util.prefix_errors(prefix, full, name, is_leaf=lambda x: x is None)
    return str(errors[0]) if errors else f"{name} does not fit"


def unmapped_output_is_batched(out_axes, out_tree, index, axis_name):
    if axis_name:
        raise ValueError(
            f"vmap has mapped output (axis_name={axis_name}) but out_axes is None; give the output "
            "an axis in out_axes, or reduce it over the mapped axis (lax.pmean, say)."
        )
    numbers = tree_util.tree_unflatten(out_tree, list(range(out_tree.num_leaves)))
    path = next(p for p, leaf in tree_util.tree_leaves_with_path(numbers) if leaf == index)
    where = "" if out_axes is None else tree_util.keystr(path)
    raise ValueError(
        f"at vmap out_axes{where}, got axis spec None but output was batched on axis 0"
    )
