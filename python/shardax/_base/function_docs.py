"""shardax/_base/function_docs.py - the documentation of elementwise functions, out of tables."""

import textwrap


def doc_of(package, name, parameters, line):
    """The documentation of an elementwise function, as `help` shows it.

    Args:
      package: "numpy" or "lax".
      name: of the function.
      parameters: their names: "x" or "x1, x2".
      line: stands for a function that has no place in the tables.
    """
    if package == "numpy":
        from shardax._base import numpy_docs as tables  # rarely read
    else:
        from shardax._base import lax_docs as tables  # rarely read
    if name not in tables.TEXTS:
        return line
    kind, text = tables.TEXTS[name]
    operands, result, *errors = [part.replace("{x}", parameters) for part in tables.KINDS[kind]]
    lines = textwrap.dedent(text).strip().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(">>>"))
    summary, example = [line for line in lines[:first] if line], lines[first:]
    out = [*summary, "", "Args:", f"  {operands}", "", "Returns:", f"  {result}"]
    if errors:
        out += ["", "Raises:", *(f"  {error}" for error in errors)]
    return "\n".join([*out, "", "Example:", *(f"  {part}" for part in example)])
