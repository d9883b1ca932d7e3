"""tests/compile/test_passes.py - each pass alone: program in, program out, as text.

passes/*.txt hold the cases, in the textual form of cpp/ir/text/text_form.h:

    == drop_reshape
    # to its own shape
    { lambda ; a:f32[3]. let b:f32[3] = reshape[...] a in (b) }
    -> unchanged                        or "->" and the program that the pass makes of it

Of fusion and lowering the plan follows, without the word that tells machine code (`native`).
`{panel}` is the number of columns of float32 in this machine's panels, `{panels}` that of panels
in 128 columns.

Keywords of `run_pass` follow the name: `== expose_uniform strides=((0, 1),)`. With names of
passes as arguments, this script prints their results: python test_passes.py legalize_types.
"""

import ast
import pathlib
import re
import sys

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import _core

api = _core.api
FOLDER = pathlib.Path(__file__).resolve().parent / "passes"
OF_PROCESSES = FOLDER.parents[1] / "mpi" / "messages.txt"  # tests/mpi/test_passes.py runs them
PRODUCTS = _core.target_info()["products"]
PANEL = 32 if "AVX-512" in PRODUCTS else 16 if "AVX2" in PRODUCTS else 8
KINDS = {name: kind for name, kind, *_ in api.passes()}
MOST_ELEMENTS = 1 << 18  # of the operands of a program that is run


class Case:
    def __init__(self, file, block):
        self.file = file
        head, *lines = block.splitlines()
        self.name, *settings = re.split(r" (?=\w+=)", head.strip())
        self.settings = {k: ast.literal_eval(v) for k, v in (s.split("=") for s in settings)}
        doc = next((line[2:] for line in lines if line.startswith("# ")), "")
        self.id = f"{self.name}-{doc.replace(' ', '_')}"
        before, arrow, after = "\n".join(lines).partition("\n->")
        assert arrow, f"{file}: {self.id} has no '->'"
        after = after.replace("{panel}", f"{PANEL}").replace("{panels}", f"{128 // PANEL}")
        self.before, self.after = before, after.strip()
        self.makes_plan = KINDS.get(self.name) == "plan"
        self.changes = self.after != "unchanged"

    def result(self):
        return api.run_pass(self.name, self.before, **self.settings)


ALL_CASES = [
    Case(file.name, block)
    for file in [*sorted(FOLDER.glob("*.txt")), OF_PROCESSES]
    for block in file.read_text().split("\n== ")[1:]
]


CASES = [case for case in ALL_CASES if not case.makes_plan and case.file != OF_PROCESSES.name]
PLANS = [case for case in ALL_CASES if case.makes_plan and case.file != OF_PROCESSES.name]


def normal(text):
    return api.text_form(api.parse_program(text))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_pass_alone(case, monkeypatch):
    if PRODUCTS == "baseline":  # no AVX2: passes for machine code ask whether it is written
        monkeypatch.setenv("SHARDAX_CODEGEN", "avx2")
    before, got = normal(case.before), case.result()
    assert got == (normal(case.after) if case.changes else before)
    assert (got != before) == case.changes


def operands(program, seed=0):
    rng = np.random.default_rng(seed)
    for aval in program.in_avals:
        if aval.dtype == bool:
            yield jnp.asarray(rng.integers(0, 2, aval.shape), bool)
        elif jnp.issubdtype(aval.dtype, jnp.integer):
            yield jnp.asarray(rng.integers(0, 4, aval.shape), aval.dtype)
        elif jnp.issubdtype(aval.dtype, jnp.complexfloating):
            yield jnp.asarray(rng.uniform(-1, 1, aval.shape) + 0.5j, aval.dtype)
        else:
            yield jnp.asarray(rng.uniform(-1, 1, aval.shape), aval.dtype)


CHANGES = [case for case in CASES if case.changes and not case.settings]


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.id)
def test_a_pass_keeps_results(case):
    """Op by op, before and after."""
    before, after = (api.parse_program(text) for text in (case.before, case.after))
    if sum(aval.size for aval in before.in_avals) > MOST_ELEMENTS:
        pytest.skip("large")
    values = list(operands(before))
    for x, y in zip(api.evaluate(before, values, []), api.evaluate(after, values, []), strict=True):
        if x.dtype.name.startswith("int") and x.dtype.itemsize < 1:
            x, y = x.astype(int), y.astype(int)
        # A pass may leave out the rounding of narrow numbers.
        off = 2.0**-7 if any(aval.dtype.itemsize == 2 for aval in before.in_avals) else 2e-5
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=off, atol=off)


def lines(plan):
    return [line.strip().removeprefix("native ") for line in plan.strip().splitlines()]


@pytest.mark.parametrize("case", PLANS, ids=lambda case: case.id)
def test_a_plan(case):
    assert lines(case.result()) == lines(case.after)


@pytest.mark.parametrize("name", KINDS)
def test_every_pass_has_a_case_that_changes_and_one_that_does_not(name):
    own = [case for case in ALL_CASES if case.name == name]
    if KINDS[name] == "plan":
        assert len({case.after for case in own}) >= 2, f"write two into {FOLDER.name}/plans.txt"
    else:
        assert {case.changes for case in own} == {True, False}, f"write both into {FOLDER.name}/"


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind != "pattern"])
def test_the_page_of_the_compiler_names_every_pass(name):
    page = pathlib.Path(__file__).resolve().parents[2] / "cpp/compile/README.md"
    assert name in page.read_text(encoding="utf-8")


def test_passes_have_examples():
    for name, kind, doc, example in api.passes():
        assert doc, name
        assert ("->" in example) == (kind in ("program", "loops")), name


def test_every_case_is_of_a_pass():
    assert {case.name for case in ALL_CASES} == set(KINDS)


def test_there_is_no_pass_of_another_name():
    text = "{ lambda ; a:f32[]. let in (a) }"
    with pytest.raises(ValueError, match="there is no pass 'optimise'"):
        api.run_pass("optimise", text)
    with pytest.raises(ValueError, match=r"strides \(1, 1\) of input 0, which has 0 dimensions"):
        api.run_pass("expose_uniform", text, strides=((1, 1),))
    with pytest.raises(ValueError, match="strides of 2 .* inputs; the program has 1"):
        api.run_pass("expose_uniform", text, strides=((), ()))


def test_passes_are_verified_in_tests():
    """tests/conftest.py sets SHARDAX_VERIFY, so that a pass that breaks a program is named."""
    before = api.verified_passes()
    shardax.jit(lambda x: x * 2.0 + jnp.arange(3.0))(jnp.ones(3))
    assert api.verified_passes() > before


def main(names):
    for case in ALL_CASES:
        if case.name in names:
            print(f"== {case.id}\n{normal(case.before)}\n->\n{case.result()}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
