"""shardax/_base/logging.py - messages to Python's logger "shardax"."""

import logging
import time

from shardax._base.events import tell_elapsed
from shardax.config import config

_logger = logging.getLogger("shardax")


def log_traced(api, name, types, seconds):
    """Says, under `jax_log_compiles` and to listeners, that a function was traced for new types;
    called by the core."""
    tell_elapsed("/jax/core/compile/jaxpr_trace_duration", time.time(), seconds, name)
    if config.jax_log_compiles:
        _logger.warning("Finished tracing %s for %s in %f sec", name, api, seconds)
        _logger.warning(
            "Compiling %s(%s) with global shapes and types %s.", api, name, tuple(types)
        )


def log_compiled(name, seconds):
    """Says the same of a program that was compiled."""
    shown = f"jit({name})"
    tell_elapsed("/jax/core/compile/backend_compile_duration", time.time(), seconds, shown)
    if config.jax_log_compiles:
        _logger.warning("Finished XLA compilation of %s in %f sec", shown, seconds)


_seen_lines = {}  # the functions that have been explained, by the line that defines them


def explain_miss(place, fun, described, paths, now, before):
    """Says, under `jax_explain_cache_misses`, why a function is traced; called by the core.

    Args:
      place: the user's line, "file.py:12:4 (f)".
      fun, described: the function, and "f at file.py:10".
      paths: a name for each leaf of the arguments.
      now: (tree of the arguments, types of the leaves, static arguments, True).
      before: the same for each signature that the function has a program for; last, whether it was
        traced in the present context.
    """
    text = [f"TRACING CACHE MISS at {place}:"]
    name, _, line = described.partition(" at ")
    others = _seen_lines.setdefault(line, set())
    if not before:
        text += ["  never seen function:", f"    {name} id={id(fun)} defined at {line}"]
        if others:
            text += [
                "  but seen another function defined on the same line; maybe the function is",
                "  being re-defined repeatedly, preventing caching?",
            ]
    else:
        text += [
            f"  for {name} defined at {line}",
            "  all previously seen cache keys differ. For the closest previous key:",
        ]
        text += min((_differences(paths, now, key) for key in before), key=len)
    others.add(id(fun))
    _logger.warning("\n".join(text))


def _differences(paths, now, before):
    tree, types, statics, _ = now
    other_tree, other_types, other_statics, same_context = before
    text = []
    if tree != other_tree:
        text += ["  different input pytree:", f"  * now {tree} and before {other_tree}"]
    elif types != other_types:
        text.append("  different input types:")
        for path, a, b in zip(paths, types, other_types):
            if a != b:
                text.append(f"  * at {path}, now {_short(a, b)} and before {_short(b, a)}")
        if any(_weak_only(a, b) for a, b in zip(types, other_types)):
            text.append("  See https://docs.jax.dev/en/latest/type_promotion.html#weak-types")
    if statics != other_statics:
        text += [
            "  different value of static args:",
            f"  * now {_listed(statics)} and before {_listed(other_statics)}",
        ]
    if not same_context:
        text.append("  Tracing context doesn't match, e.g. due to config or context manager.")
    return text


def _weak_only(a, b):
    return a != b and a.str_short() == b.str_short()


def _short(aval, other):
    weak = f"{{weak_type={aval.weak_type}}}" if _weak_only(aval, other) else ""
    return aval.str_short(short_dtypes=True) + weak


def _listed(values):
    return ", ".join(map(repr, values))
