"""Writes the scripts of this folder as notebooks, with the output of each cell.

python examples/notebooks.py [FOLDER] [NAME...]: notebooks (or those of the names) go to FOLDER,
or beside the scripts. matplotlib draws figures. A cell of a script starts with `# %%`, one of text
with `# %% [markdown]`.
"""

import ast
import base64
import contextlib
import io
import json
import linecache
import pathlib
import re
import sys

import matplotlib.pyplot as plt
from shardax._base.svg import standalone

SCRIPTS = [
    "pmap_basics",
    "data_parallelism",
    "meshes_and_axis_names",
    "training_loop",
    "rule30",
    "wave_equation",
    "ensemble",
    "mlp_adam",
    "monte_carlo_pi",
    "gradient_accumulation",
    "image_classifier",
    "neural_ode",
    "bayesian_regression",
    "fsdp",
    "tensor_parallel",
    "pipeline",
    "transformer_2d",
    "ring_attention",
    "expert_parallelism",
    "halo_exchange",
    "how_it_scales",
    "automatic_parallelism",
]
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def cells(text):
    """(is_markdown, source) of each cell of a script."""
    for part in re.split(r"^# %%", text, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        if "[markdown]" in head:
            yield True, re.sub(r"^# ?", "", body, flags=re.MULTILINE).strip()
        else:
            yield False, body.strip()


def run(source, name, scope):
    """The value of a cell's last line, where that is an expression; None."""
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = len(source), None, lines, name
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), scope)
    return last and eval(compile(ast.Expression(last.value), name, "eval"), scope)


def output(data):
    return {"data": data, "metadata": {}, "output_type": "display_data"}


def picture(svg):
    return output({"image/svg+xml": standalone(svg).splitlines(keepends=True)})


def shown(value):
    """The outputs that a notebook stores of a value with a picture. Code hosts show pictures that
    are outputs of their own, and take them out of HTML: HTML is cut at its pictures."""
    svg = getattr(value, "_repr_svg_", lambda: None)()
    if svg:
        return [output({"image/svg+xml": svg.splitlines(keepends=True)})]
    html = getattr(value, "_repr_html_", lambda: None)() or ""
    html = re.sub(r"^<div>(.*)</div>$", r"\1", html, flags=re.DOTALL)
    outputs = []
    for part in re.split(r"(<svg.*?</svg>)", html, flags=re.DOTALL):
        if part.startswith("<svg"):
            outputs.append(picture(part))
        elif part:
            outputs.append(output({"text/html": f"<div>{part}</div>".splitlines(keepends=True)}))
    return outputs


def figures():
    """The figures that a cell has drawn, which plt.show() shows."""
    outputs = []
    for number in plt.get_fignums():
        file = io.BytesIO()
        plt.figure(number).savefig(file, dpi=100, bbox_inches="tight", metadata={"Software": None})
        text = base64.b64encode(file.getvalue()).decode()
        outputs.append(output({"image/png": text, "text/plain": "<Figure>"}))
    plt.close("all")
    return outputs


def notebook(text):
    """The notebook of a script, as a JSON object; runs the script's code."""
    scope = {"__name__": "__main__"}
    out = []
    count = 0  # of cells of code: kernels number these
    for markdown, source in cells(text):
        cell = {"cell_type": "markdown", "id": f"cell-{len(out)}", "metadata": {}}
        if not markdown:
            count += 1
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                value = run(source, f"cell {count}", scope)
            lines = printed.getvalue().splitlines(keepends=True)
            stream = {"name": "stdout", "output_type": "stream", "text": lines}
            outputs = ([stream] if lines else []) + figures() + shown(value)
            cell |= {"cell_type": "code", "execution_count": count, "outputs": outputs}
        out.append(cell | {"source": source.splitlines(keepends=True)})
    return {"cells": out, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def main():
    plt.switch_backend("agg")
    here = pathlib.Path(__file__).resolve().parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    for name in sys.argv[2:] or SCRIPTS:
        written = notebook((here / f"{name}.py").read_text(encoding="utf-8"))
        text = json.dumps(written, indent=1, ensure_ascii=False) + "\n"
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
