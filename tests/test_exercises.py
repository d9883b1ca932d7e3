"""tests/test_exercises.py - exercises are graded rightly: solutions pass, skeletons fail."""

import pathlib
import re
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "examples" / "exercises"
NAMES = sorted(path.stem for path in FOLDER.glob("e*.py"))


def grade(*options):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA", *options]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=300)
    verdicts = dict.fromkeys(re.findall(r"^(PASSED|FAILED|ERROR) (\S+)", done.stdout, re.M))
    assert verdicts, done.stdout + done.stderr
    return list(verdicts)


def test_each_has_a_test_and_a_solution():
    assert len(NAMES) == 10
    assert sorted(p.stem for p in (FOLDER / "solutions").glob("*.py")) == NAMES
    assert sorted(p.stem for p in FOLDER.glob("test_*.py")) == [f"test_{n}" for n in NAMES]


def test_solutions_pass():
    verdicts = grade("--answers", "solutions")
    assert {verdict for verdict, _ in verdicts} == {"PASSED"}
    assert {re.search(r"test_(\w+)\.py", name)[1] for _, name in verdicts} == set(NAMES)


def test_skeletons_fail_in_every_test():
    assert {verdict for verdict, _ in grade()} == {"FAILED"}


@pytest.mark.parametrize("name", NAMES)
def test_skeletons_and_solutions_ask_the_same(name):
    head = re.compile(r"^def .*?\"\"\".*?\"\"\"", re.M | re.S)
    skeleton = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    solution = (FOLDER / "solutions" / f"{name}.py").read_text(encoding="utf-8")
    assert head.findall(skeleton) == head.findall(solution)


def test_missing_answers_are_named(tmp_path):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_e01_rows.py"]
    done = subprocess.run(
        [*command, "--answers", str(tmp_path)], cwd=FOLDER, capture_output=True, text=True
    )
    assert "there is no e01_rows.py in" in done.stdout


# Answers that a test must not take: the kind of mistake that each exercise is about.
WRONG = {
    "e01_rows": ("shardax.pmap(", "shardax.vmap("),
    "e02_shared": ("in_axes=(None, 0)", "in_axes=0"),
    "e03_softmax": ('lax.pmax(jnp.max(x), "i")', "0"),
    "e04_prefix": ("step *= 2", "step += 1"),
    "e05_training": ('lax.pmean(gradient, "batch")', "gradient"),
    "e06_unequal": ("jnp.sum(x, where=valid)", "jnp.sum(x)"),
    "e07_keys": ('random.fold_in(key, lax.axis_index("i"))', "key"),
    "e08_halo": ("to_right)", "to_left)"),
    "e09_tensor_parallel": ("x @ w, ", "x @ w / 2, "),
    "e10_transpose": (
        'lax.all_to_all(row, "i", split_axis=0, concat_axis=0, tiled=True)',
        'lax.all_gather(row, "i")[:, lax.axis_index("i")]',
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_typical_mistakes_fail(name, tmp_path):
    right, wrong = WRONG[name]
    text = (FOLDER / "solutions" / f"{name}.py").read_text(encoding="utf-8")
    assert right in text
    (tmp_path / f"{name}.py").write_text(text.replace(right, wrong), encoding="utf-8")
    verdicts = grade(f"test_{name}.py", "--answers", str(tmp_path))
    assert "FAILED" in {verdict for verdict, _ in verdicts}
