"""shardax/_explain/explanation.py - explain: the program of a parallel function, and its compiled
form.

The core finds the facts; this module names them after the user's arguments and lines.
"""

import functools
import json

from shardax import tree_util
from shardax._base.api_errors import argument_paths
from shardax._base.options import check_callable
from shardax._core import api as _core
from shardax._devices.shardings import NamedSharding
from shardax._explain import facts, html, text, words
from shardax._explain.accelerators import Accelerators


def explain(fun):
    """Explains the program that a function runs on its devices, and its cost.

    Args:
      fun: a pmapped, shard_mapped, jitted or plain function.

    Returns:
      A function of the same arguments, arrays or ShapeDtypeStructs, that gives an `Explanation`:
      print it, show it in a notebook, or ask for `to_dict()` or `to_json()`. Nothing runs. Only
      arrays show that a stacked argument is the same on all devices. In several processes it tells
      of this one's devices, and of its messages to others.

    Raises:
      TypeError: where `fun` is no function; later, the exceptions of tracing it.

    Example:
      >>> mean = pmap(lambda x: lax.pmean(x, "i"), axis_name="i", out_axes=None)
      >>> told = explain(mean)(jnp.arange(8.0))
      >>> told.collectives[0]["became"], told.collectives[0]["participants"]
      ('reduction', 8)
      >>> told.results[0]["uniform"]
      ['i']
    """

    check_callable(fun)

    def explained(*args, **kwargs):
        return Explanation(*_facts(fun, args, kwargs))

    return explained


def _facts(fun, args, kwargs):
    """(its program, the arguments' leaves, names of the arguments, names of the results)."""
    if hasattr(fun, "lower"):
        staged = _core.stage_function(fun, args, kwargs)
        if staged.references is not None:
            raise NotImplementedError(
                "explain: the function reads or writes a mutable array reference. Pass the value "
                "of the reference, ref[...], and write what comes back."
            )
        _, positions, static_names, _ = _core.call_info(fun, args, kwargs)
    else:
        staged = _core.stage("explain", fun, args, kwargs)
        positions, static_names = (), ()
    names = argument_paths(fun, args, kwargs, [*positions, *static_names])
    moving = [arg for i, arg in enumerate(args) if i not in positions]
    keywords = {name: value for name, value in kwargs.items() if name not in static_names}
    given = tree_util.tree_leaves((moving, keywords))
    tree = staged.out_tree
    paths = tree_util.tree_flatten_with_path(tree.unflatten(range(tree.num_leaves)))[0]
    results = ["result" + tree_util.keystr(path) for path, _ in paths]
    return staged.program, given, names, results


def _known(leaf):
    """The description of the sharding of an argument; None where it is not split over a mesh."""
    where = getattr(leaf, "sharding", None)
    return where._description(leaf.ndim) if isinstance(where, NamedSharding) else None


class Explanation:
    """The description of a program on its devices; `explain` makes it.

    All sizes are bytes. "Uniform over an axis" says that all devices along it have the same value,
    "varying" that theirs differ.

    Attributes:
      function: its name.
      axes: the size of each mapped axis, by name.
      devices: how many devices there are, 1 where nothing is mapped.
      summary: sentences that say what the devices cost and why.
      arguments, results: a dict each. "name", "type" and "bytes" are of the whole, "device_type"
        and "device_bytes" of one device's part. "split", "varying" and "uniform" are axes (if
        nothing is mapped, as its sharding says). "copies" is the number of copies of one device's
        value, 1 if all share it. Of results, "dropped" are axes over which only the first device's
        value is taken of several.
      values: likewise for what each line computes: "op", "line", "type" (one device's), "varying",
        "uniform", and "became".
      collectives: "op", "over" (axes), "participants", and of one device's bytes "operand" and
        "result". "traffic" is a device's bytes to others if it had its own memory, "times" the
        iterations of loops. "became" and, in words, "meaning" follow.
      messages: those to other processes. "op", "type", "times", "line", "processes" (that take
        part) and "bytes" (that each hands over) come first. "meanwhile" is the number of steps that
        run before its result is needed. Of the last call "under_way" are its seconds, and "waited"
        those in which this process waited for others. None: it was not sent yet.
      steps: what is fused into one pass: "kind", "ops", "lines", "flops", "bytes", "times".
      buffers: memory beside the arguments. "kind" is result or temporary; "type", "bytes", "copies"
        and "line" follow. "first" and "last" are the `steps` that use it (results: as many as there
        are).
      lines: "flops", "bytes" moved, and "memory" in buffers, by line, with the axes over which
        values of the line are "varying" and "uniform". The last one, with None for a line, has the
        steps without lines.
      work: "here" and "apart", the devices on their own: flops and transcendentals.
      memory: "arguments", "results", "temporaries" (of them "within" loops and branches),
        "constants", "peak". Of devices on their own, "device" and "apart" are the peak of one and
        of all.
      apart: for a function that maps nothing itself, whose arguments NamedShardings split over
        several devices. It is the Explanation of each device's program if it had a memory of its
        own, with the collectives that bring it other data. Else None.

    Example:
      >>> rows = jnp.ones((16, 4), device=NamedSharding(make_mesh((8,), ("x",)), P("x")))
      >>> told = explain(lambda rows: rows.T @ rows)(rows)
      >>> [(c["op"], c["over"], c["operand"]) for c in told.apart.collectives]
      [('psum', ['x'], 64)]
    """

    def __init__(self, program, leaves, names, results):
        self._made_of = program, leaves, names, results
        arrays = [leaf if _core.is_array_like(leaf) else None for leaf in leaves]
        self._told = facts.with_axes_of_users(_core.explained(program, arrays))
        for name, value in facts.of(self._told, names, results).items():
            setattr(self, name, value)
        self.summary = words.summary(self)

    @functools.cached_property
    def apart(self):
        program, leaves, names, results = self._made_of
        known = [_known(leaf) for leaf in leaves]
        made = _core.partitioned(program, known) if any(known) else None
        return made and Explanation(made, leaves, names, results)

    def on(self, accelerators):
        """A prediction for as many separate accelerators, each with its own memory: of the program
        of `apart`, if that is not None.

        Args:
          accelerators: an `Accelerators`.

        Raises:
          TypeError: for another value than an `Accelerators`.
          ValueError: where its count cannot be shared out over the mapped axes.

        Returns:
          A `Prediction`: time by phase, overlap, memory of a device, scaling curves.

        Example:
          >>> step = pmap(lambda x: lax.psum(x * 2.0, "i"), axis_name="i")
          >>> machines = Accelerators(flops=1e12, memory_bandwidth=1e11, link_bandwidth=1e10)
          >>> explain(step)(jnp.ones((8, 1000))).on(machines).devices
          8
        """
        from shardax._explain.prediction import Prediction  # at first use: explain stays quick

        if not isinstance(accelerators, Accelerators):
            raise TypeError(f"on: got {accelerators!r}; an Accelerators was expected.")

        return Prediction(self.apart or self, accelerators)

    def to_dict(self):
        """All that is said, as dicts, lists, numbers and strings."""
        return {name: getattr(self, name) for name in ("function", *facts.FIELDS, "summary")}

    def to_json(self, **options):
        """`to_dict()` as JSON; options are those of json.dumps."""
        return json.dumps(self.to_dict(), **options)

    def __str__(self):
        return text.explanation(self)

    __repr__ = __str__

    def _repr_html_(self):
        return html.explanation(self)
