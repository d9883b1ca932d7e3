"""The examples run as scripts, print what they promise, and their notebooks hold the same code."""

import functools
import importlib.util
import json
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"

KEY_LINES = {
    "pmap_basics": [
        "8 devices, the first is cpu:0",
        "split (8, 3) -> stacked (8, 3)",
        "device 2 computed [36 49 64]",
        "device 1: [  3.  40. 500.]",
        "shares add up to 1.000",
        "left neighbours: [7 0 1 2 3 4 5 6]",
        "error: pmap: 9 mapped slices need 9 devices, but 8 exist. "
        'Raise it with shardax.config.update("jax_num_cpu_devices", 9).',
        "now 9 devices: [4]",
    ],
    "data_parallelism": [
        "batch (32, 3) -> shards (8, 4, 3)",
        "gradient of b: shape (2,), equals the whole batch's: True",
        "gradient of w: shape (3, 2), equals the whole batch's: True",
        "gradients of b differ between devices by up to 2.89",
    ],
    "meshes_and_axis_names": [
        "mesh axes: {'data': 2, 'model': 4}",
        " 16@4  17@4  18@5  19@5  20@6  21@6  22@7  23@7",
        "split over data only: shards of (2, 8), each on 4 devices",
        "result lies on: {'workers': 8} split by ('workers',)",
        "sum over model: [ 6 22]",
        "sum over data:  [ 4  6  8 10]",
        "sum over both:  28",
    ],
    "ensemble": [
        "members: 8",
        "first loss of each: [0.79 0.42 3.62 0.39 0.27 1.58 0.74 0.65]",
        "close to the curve inside: True",
    ],
    "gradient_accumulation": [
        "512 samples = 8 devices x 4 microbatches x 16",
        "same loss:     True",
        "same gradient: True",
        "largest error of a weight: 0.05",
    ],
    "mlp_adam": [
        "step   0  loss 0.687",
        "right about 100 % of new points",
    ],
    "monte_carlo_pi": [
        "800000 points from 8 devices, 628426 inside",
        "pi is about 3.142, give or take 0.002",
        "within four standard errors: True",
        "the same again: True",
        "their spread is the error expected: True",
    ],
    "rule30": [
        "cells that are on: 326",
        "equal to one device's picture: True",
    ],
    "image_classifier": [
        "parameters: 6020",
        "step  0  loss 1.42",
        "checkpoint is the same: True",
        "steps: 120",
        "right more than 95 % of the time: True",
    ],
    "neural_ode": [
        "data: (32, 20, 2)",
        "last loss below 0.001: True",
        "close to the truth: True",
    ],
    "bayesian_regression": [
        "least squares: 1.7 + 1.7 x",
        "draws of a parameter: True",
        "intercept: the truth is near: True",
        "slope: the truth is near: True",
        "intercept: chains agree: True",
        "slope: chains agree: True",
    ],
    "training_loop": [
        "8 devices x 100 samples x 5 features",
        "step 10  loss 1.7291",
        "step 50  loss 0.0098",
    ],
    "wave_equation": [
        "256 points on 8 devices, 1028 steps a period",
        "after a half period: height -1.00 at 0.75",
        "after a whole period: height +1.00 at 0.25",
        "energy is conserved to 1 %: True",
    ],
}

# One program on one device and on many.
PARALLEL = {
    "fsdp": [
        "w1: (64, 32) in parts of (8, 32)",
        "equal to the unsharded steps: True",
        "all_gather     free      apart, each device sends 7168 bytes",
        "reduce_scatter product   apart, each device sends 7168 bytes",
    ],
    "tensor_parallel": [
        "each device has (16, 12) of (16, 96)",
        "same result:   True",
        "same gradients: True",
        "1 collective, nothing of which crosses a network: 1 is part of a product.",
    ],
    "pipeline": [
        "GPipe: same loss:     True",
        "GPipe: same gradient: True",
        "1F1B:  same loss:     True",
        "1F1B:  same gradient: True",
    ],
    "transformer_2d": [
        "up   (16, 64)       a device has (16, 16)",
        "equal to the unsharded steps: True",
        "sums along model: product",
    ],
    "ring_attention": [
        "sequence of 128 in blocks of 16",
        "equal to attention over all: True",
        "same gradients: True",
        "blocks handed over: 16 by each device",
    ],
    "expert_parallelism": [
        "equal to one device: True",
        "tokens of each expert: [20 22 30 25 12 35  5 43] of 192",
        "all_to_all: view; apart, each device sends 5376 bytes",
    ],
    "halo_exchange": [
        "equal to one device: True",
        "heat is conserved:   True",
        "a device has 2048 bytes, and would send 384 in each step",
    ],
    "how_it_scales": [
        "equal to one device: True",
        "4 collectives, nothing of which crosses a network: 4 are each part of a product.",
        "So 8 devices take the arithmetic of one device that has all the data.",
    ],
    "automatic_parallelism": [
        "tensor parallel: equal to one device: True, "
        "a device has {'first': (64, 64), 'second': (64, 64)}",
        "parameters sharded: 229376 bytes from each device",
        "    all_gather over data, model: 8192 bytes on each device",
        "    reduce_scatter over data, model: 65536 bytes on each device",
        "tensor parallel: 57344 bytes from each device",
    ],
}

# The libraries that a script imports beside shardax.
LIBRARIES = {
    "image_classifier": ["flax", "optax", "orbax", "tqdm"],
    "neural_ode": ["diffrax", "equinox", "optax", "tqdm"],
    "bayesian_regression": ["numpyro", "tqdm"],
}
OWN = sorted(set(KEY_LINES) - set(LIBRARIES))
ALL = KEY_LINES | PARALLEL


@pytest.fixture(scope="module")
def default_environment():
    """The environment without settings that change how many devices there are."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SHARDAX_NUM_DEVICES", "JAX_NUM_CPU_DEVICES", "XLA_FLAGS"):
            patch.delenv(name, raising=False)
        yield


def needs(name):
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    return [*LIBRARIES.get(name, ()), *(["matplotlib"] if "import matplotlib" in text else [])]


@functools.cache
def run(name, **environment):
    lacking = [lib for lib in needs(name) if importlib.util.find_spec(lib) is None]
    if lacking:
        pytest.skip(f"examples/{name}.py needs {', '.join(lacking)}, which is not installed")
    with pytest.MonkeyPatch.context() as patch:
        for key, value in environment.items():
            patch.setenv(key, value)
        command = [sys.executable, str(EXAMPLES / f"{name}.py")]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.usefixtures("default_environment")
@pytest.mark.parametrize("name", sorted(ALL))
def test_script(name):
    done = run(name)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    missing = [line for line in ALL[name] if line not in printed]
    assert not missing, f"{missing} not in\n{done.stdout}"


@pytest.mark.usefixtures("default_environment")
@pytest.mark.parametrize("name", sorted(PARALLEL))
def test_two_devices_equal_one(name):
    printed = run(name, SHARDAX_NUM_DEVICES="2").stdout
    assert "True" in printed and "False" not in printed, printed


@pytest.mark.usefixtures("default_environment")
@pytest.mark.parametrize("count", ["1", "2", "4"])
@pytest.mark.parametrize("name", OWN)
def test_other_device_counts(name, count):
    done = run(name, SHARDAX_NUM_DEVICES=count)
    if name == "meshes_and_axis_names" and count == "1":
        assert done.returncode == 1
        assert "arranges devices in two rows" in done.stderr
    else:
        assert done.returncode == 0, done.stderr


# Lines that hold for any number of devices.
ALWAYS = ("True", "326", "+1.00 at 0.25", "right about 100 %")


@pytest.mark.usefixtures("default_environment")
@pytest.mark.parametrize("name", sorted(set(KEY_LINES) - {"pmap_basics", "data_parallelism"}))
def test_results_do_not_depend_on_the_device_count(name):
    lines = [v for v in KEY_LINES[name] if any(part in v for part in ALWAYS)]
    printed = run(name, SHARDAX_NUM_DEVICES="2").stdout.splitlines()
    missing = [line for line in lines if line not in printed]
    assert not missing, f"{missing} not in\n{printed}"


def test_meshes_error_names_the_axis():
    assert "devices" in run("meshes_and_axis_names").stdout


def test_loss_goes_down():
    losses = re.findall(r"step \d+  loss (\S+)", run("training_loop").stdout)
    assert len(losses) == 5
    assert sorted(losses, key=float, reverse=True) == losses


@pytest.mark.parametrize("name", sorted(ALL))
def test_notebook_is_the_script(name, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import notebooks

    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    stored = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert [(c["cell_type"] == "markdown", "".join(c["source"])) for c in stored["cells"]] == list(
        notebooks.cells(text)
    ), "run python examples/notebooks.py"


def test_every_script_is_tested():
    scripts = {path.stem for path in EXAMPLES.glob("*.py")} - {"notebooks"}
    assert scripts == set(ALL)


@pytest.mark.parametrize("name", sorted(ALL))
def test_notebooks_hold_pictures(name):
    """As outputs of their own: code hosts take them, and styles, out of HTML."""
    stored = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))
    shown = [
        (kind, "".join(data))
        for cell in stored["cells"]
        for output in cell.get("outputs", ())
        for kind, data in output.get("data", {}).items()
    ]
    assert any(kind in ("image/svg+xml", "image/png") for kind, _ in shown)
    assert not any(kind == "text/html" and "<svg" in data for kind, data in shown)
    assert not any("_internal" in data for _, data in shown)
    pictures = [data for kind, data in shown if kind == "image/svg+xml"]
    assert all("fill='#fff'" in picture for picture in pictures)  # a light background


NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


@pytest.mark.usefixtures("default_environment")
@pytest.mark.parametrize("name", sorted(ALL))
def test_notebook_prints_what_the_script_prints(name):
    """Numbers may differ in their last digits between processors."""
    stored = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))
    texts = [
        line
        for cell in stored["cells"]
        for output in cell.get("outputs", ())
        for line in output.get("text", ())
    ]
    # Lines of code are those of cells in one, of the script in the other.
    lines = re.compile(r"(cell \d+|\w+\.py):\d+(, \d+)*")
    said, printed = (lines.sub("", text) for text in ("".join(texts), run(name).stdout))
    assert NUMBER.sub("", said).split() == NUMBER.sub("", printed).split()
    pairs = zip(NUMBER.findall(said), NUMBER.findall(printed), strict=True)
    assert all(float(a) == pytest.approx(float(b), rel=0.02, abs=0.02) for a, b in pairs)


def test_readme_prints_what_it_says():
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n```\n(.*?)```", readme, re.DOTALL).groups()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed
