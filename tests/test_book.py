"""tests/test_book.py - the book: code of its pages runs and prints what they say, links lead
somewhere, tables are those of the code."""

import doctest
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = sorted(
    [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "api").glob("*.md")]
    + [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    + [ROOT / "python" / "README.md", *(ROOT / "cpp").rglob("README.md")]
)
BOOK = [page for page in PAGES if page.parent.name == "docs"]

# A fence of Python code, what stands before it in the comment, and the output that follows it.
BLOCK = re.compile(
    r"(?:^<!-- (?P<note>[^\n]*) -->\n)?^```python\n(?P<code>.*?)^```\n"
    r"(?:\n?^```(?:text)?\n(?P<printed>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
NOTES = ("shown: ", "run: ")

RUNNER = """
import contextlib, io, linecache, sys, traceback
blocks = eval(sys.stdin.read())
scope = {"__name__": "__main__"}
out = []
for name, line, code in blocks:
    printed = io.StringIO()
    text = "\\n" * (line - 1) + code
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(text, name, "exec"), scope)
    except BaseException:
        traceback.print_exc()
        sys.exit(f"the code in line {line} of {name} fails")
    out.append(printed.getvalue())
print(repr(out))
"""


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks_of(page):
    """(line, code, what is said to be printed, note) of each block of Python code of a page."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("code")) + 1
        yield line, found["code"], found["printed"], found["note"] or ""


def environment():
    left_out = ("SHARDAX_NUM_DEVICES", "JAX_NUM_CPU_DEVICES", "XLA_FLAGS")
    return {k: v for k, v in os.environ.items() if k not in left_out}


def run(command, **options):
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=240, env=environment(), **options
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def same(said, printed):
    """Was a text printed, with ... for anything?"""
    said = said or ""
    if sys.version_info < (3, 11):  # locations have no columns and no qualified names
        said = re.sub(r"(:\d+):\d+ \(", r"\1 (", re.sub(r"\(\S+<locals>\.", "(", said))
    return doctest.OutputChecker().check_output(said, printed, doctest.ELLIPSIS)


WITH_CODE = [page for page in BOOK if any(True for _ in blocks_of(page))]


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_code_prints_what_the_page_says(page):
    here = [b for b in blocks_of(page) if not b[3].startswith(NOTES)]
    given = [(name_of(page), line, code) for line, code, _, _ in here]
    said = eval(run([sys.executable, "-c", RUNNER], input=repr(given)))
    for (line, _, expected, _), printed in zip(here, said, strict=True):
        assert same(expected, printed), f"line {line} prints:\n{printed}\nnot:\n{expected}"


SCRIPTS = [
    pytest.param(code, printed, note.removeprefix("run: "), id=f"{name_of(page)}:{line}")
    for page in BOOK
    for line, code, printed, note in blocks_of(page)
    if note.startswith("run: ")
]


@pytest.mark.parametrize(("code", "printed", "command"), SCRIPTS)
def test_scripts_print_what_the_page_says(code, printed, command, tmp_path):
    """`<!-- run: python -m shardax script.py -->` stands before a script that runs alone."""
    (tmp_path / "script.py").write_text(code, encoding="utf-8")
    python, *rest = command.split()
    assert python == "python"
    assert same(printed, run([sys.executable, *rest], cwd=tmp_path))


def test_code_that_does_not_run_says_why():
    shown = [(name_of(p), note) for p in BOOK for _, _, _, note in blocks_of(p) if note]
    assert all(note.startswith(NOTES) for _, note in shown), shown


@pytest.mark.parametrize("op", ["psum", "all_to_all", "ppermute"])
def test_pictures_of_collectives_are_those_that_the_page_names(op):
    from shardax import debug

    drawn = debug.visualize_collective(op, 4).svg + "\n"
    stored = (ROOT / "docs" / "static" / f"{op}.svg").read_text(encoding="utf-8")
    assert stored == drawn, f"save shardax.debug.visualize_collective({op!r}, 4) there"


# ---- links ---------------------------------------------------------------------------------------


def anchors(page):
    """The anchors of a page's headings, as MyST and code hosts make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    heads = re.findall(r"^#{1,6} +(.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{target} of {name_of(page)}"
        assert ROOT in there.parents, f"{target} of {name_of(page)} leaves the repository"
        if anchor:
            assert anchor in anchors(there), f"{target} of {name_of(page)}"


def test_every_page_is_in_the_book():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^(\w+|\.\./[\w/]+)$", index, flags=re.M))
    pages = {page.stem for page in BOOK} - {"index"}
    notebooks = {f"../examples/{path.stem}" for path in (ROOT / "examples").glob("*.ipynb")}
    assert listed >= pages | notebooks


def public_modules():
    """Modules without an underscore in front that have public names."""
    import importlib
    import inspect
    import pkgutil

    import shardax

    for found in pkgutil.walk_packages(shardax.__path__, "shardax."):
        if any(part.startswith("_") for part in found.name.split(".")):
            continue
        module = importlib.import_module(found.name)
        names = getattr(module, "__all__", None)
        if names is None:
            names = [
                name
                for name, value in vars(module).items()
                if getattr(value, "__module__", "") == found.name and name[0] != "_"
            ]
        if any(not inspect.ismodule(getattr(module, name)) for name in names):
            yield found.name


def test_the_reference_has_every_public_module():
    pages = [*(ROOT / "docs" / "api").glob("*.md"), ROOT / "docs" / "errors.md"]
    described = set(" ".join(page.read_text(encoding="utf-8") for page in pages).split())
    # Flags are told in settings.md; the package of rooflines has the names of its modules.
    elsewhere = {"shardax.config"}
    missing = set(public_modules()) - described - elsewhere
    assert {name for name in missing if ".roofline." not in name} == set()


def test_errors_are_explained_by_examples_that_run():
    """docs/errors.md is made of these docstrings; the wrong functions in them raise the error."""
    import numpy as np
    import shardax
    from shardax import errors, export, lax, random

    names = {
        "export": export,
        "jit": shardax.jit,
        "jnp": shardax.numpy,
        "lax": lax,
        "np": np,
        "random": random,
    }
    wrong = {
        "ConcretizationTypeError": lambda f: f(3),
        "TracerBoolConversionError": lambda f: f(1.0),
        "TracerArrayConversionError": lambda f: f(1.0),
        "TracerIntegerConversionError": lambda f: f(3),
        "NonConcreteBooleanIndexError": lambda f: f(shardax.numpy.arange(3)),
    }
    for name in errors.__all__:
        docstring = getattr(errors, name).__doc__
        test = doctest.DocTestParser().get_doctest(docstring, dict(names), name, None, None)
        assert doctest.DocTestRunner(verbose=False).run(test, clear_globs=False).failed == 0
        if name in wrong:
            with pytest.raises(getattr(errors, name)) as raised:
                wrong[name](test.globs["wrong"])
            assert raised.type is getattr(errors, name)


def test_messages_of_the_table_of_errors():
    """docs/errors.md names each message in the first column of a table; a program raises it."""
    import shardax as jax
    import shardax.numpy as jnp
    from shardax import lax

    x, mesh = jnp.arange(8.0), jax.make_mesh((8,), ("d",))

    def donated():
        y = jnp.ones(3)
        jax.jit(lambda v: v + 1, donate_argnums=0)(y)
        return y + 1

    def branch(v):
        return lax.cond(lax.axis_index("i") < 4, lambda: lax.psum(v, "i"), lambda: v)

    programs = {
        "mapped slices need 9 devices, but 8 exist": lambda: jax.pmap(lambda v: v)(jnp.ones(9)),
        "got inconsistent sizes for array axes to be mapped": lambda: jax.pmap(lambda v, w: v)(
            x, x[:4]
        ),
        "Found an unbound axis name": lambda: lax.psum(x, "i"),
        "Gradient only defined for scalar-output functions": lambda: jax.grad(lambda v: v)(x),
        "grad requires real- or complex-valued inputs": lambda: jax.grad(lambda v: v)(3),
        "arrays are immutable": lambda: x.__setitem__(0, 1),
        "incompatible shapes for broadcasting": lambda: x + x[:3],
        "requires contracting dimensions to have the same shape": lambda: x @ x[:3],
        "as an abstract array": lambda: jax.jit(lambda f, v: f(v))(jnp.sin, x),
        "Non-hashable static arguments": lambda: jax.jit(lambda s: x, static_argnums=0)([1]),
        "unexpected PRNG key type": lambda: jax.random.normal(0, (3,)),
        "branches must have equal output types": lambda: lax.cond(True, lambda: 1.0, lambda: x),
        "out_specs which require replication": lambda: jax.shard_map(
            lambda v: v.sum(), mesh=mesh, in_specs=jax.P("d"), out_specs=jax.P()
        )(x),
        "implies that array axis 0 is partitioned 8 times": lambda: jax.device_put(
            jnp.ones(9), jax.NamedSharding(mesh, jax.P("d"))
        ),
        "is not found in mesh": lambda: jax.device_put(x, jax.NamedSharding(mesh, jax.P("e"))),
        "Array has been deleted": donated,
        "the predicate differs between devices": lambda: jax.pmap(branch, "i")(x),
        "CpuCallback error calling callback": lambda: jax.pure_callback(
            lambda v: 1 / 0, jax.ShapeDtypeStruct((), "float32"), 1.0
        ),
    }
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    table = page[page.index("## By message") : page.index("## By class")]
    assert re.findall(r"^\| `([^`]+)`", table, flags=re.M) == list(programs)
    for text, program in programs.items():
        with pytest.raises(Exception, match=re.escape(text)):
            program()
