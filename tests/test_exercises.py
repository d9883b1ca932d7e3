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
    return list(verdicts), done.stdout


def test_each_has_a_test_and_a_solution():
    assert len(NAMES) == 10
    assert sorted(p.stem for p in (FOLDER / "solutions").glob("*.py")) == NAMES
    assert sorted(p.stem for p in FOLDER.glob("test_*.py")) == [f"test_{n}" for n in NAMES]


def test_solutions_pass():
    verdicts, _ = grade("--answers", "solutions")
    assert {verdict for verdict, _ in verdicts} == {"PASSED"}
    assert {re.search(r"test_(\w+)\.py", name)[1] for _, name in verdicts} == set(NAMES)


def test_skeletons_fail_in_every_test():
    assert {verdict for verdict, _ in grade()[0]} == {"FAILED"}


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


# Answers that a test must not take: the kinds of mistake that each exercise is about. The last text
# is a part of the message, which tells the student.
WRONG = [
    ("e01_rows", "shardax.pmap(", "shardax.vmap(", "on a device of its own"),
    ("e02_shared", "in_axes=(None, 0)", "in_axes=0", "inconsistent sizes"),
    (
        "e02_shared",
        "in_axes=(None, 0))(params, x)",
        "in_axes=0)({k: shardax.numpy.stack([v] * len(x)) for k, v in params.items()}, x)",
        "without copies",
    ),
    ("e03_softmax", 'lax.pmax(jnp.max(x), "i")', "0", "subtract the largest"),
    ("e03_softmax", "jnp.sum(shifted)", "shifted", "all elements of all devices"),
    ("e04_prefix", "step *= 2", "step += 1", "send totals"),
    ("e05_training", 'lax.pmean(gradient, "batch")', "gradient", "psum, pmean"),
    ("e05_training", "pmean(gradient", "psum(gradient", "mean over the samples"),
    ("e06_unequal", "jnp.sum(x, where=valid)", "jnp.sum(x)", "counts alike"),
    ("e06_unequal", "jnp.sum(x, where=valid)", "jnp.sum(x * valid)", "NaN * 0 is NaN"),
    ("e07_keys", 'random.fold_in(key, lax.axis_index("i"))', "key", "its own key"),
    ("e08_halo", "to_right)", "to_left)", "neighbour on another device"),
    (
        "e08_halo",
        'ppermute(x[-1:], "ring", to_right)',
        'ppermute(x, "ring", to_right)[-1:]',
        "4 bytes",
    ),
    ("e09_tensor_parallel", "x @ w, ", "x @ w / 2, ", "sum of the devices' products"),
    ("e09_tensor_parallel", 'lax.psum(x @ w, "model")', "x @ w", "replicated across mesh axis"),
    (
        "e10_transpose",
        'lax.all_to_all(row, "i", split_axis=0, concat_axis=0, tiled=True)',
        'lax.all_gather(row, "i")[:, lax.axis_index("i")]',
        "sends each element once",
    ),
]


def test_each_exercise_has_a_mistake():
    assert {name for name, *_ in WRONG} == set(NAMES)


@pytest.mark.parametrize("name, right, wrong, lesson", WRONG)
def test_typical_mistakes_fail_with_a_lesson(name, right, wrong, lesson, tmp_path):
    text = (FOLDER / "solutions" / f"{name}.py").read_text(encoding="utf-8")
    assert right in text
    (tmp_path / f"{name}.py").write_text(text.replace(right, wrong), encoding="utf-8")
    verdicts, output = grade(f"test_{name}.py", "--answers", str(tmp_path))
    assert "FAILED" in {verdict for verdict, _ in verdicts}
    told = "\n".join(re.findall(r"^E .*", output, re.M))
    assert lesson in told, output
