"""tests/fuzz/test_fuzz.py - a bounded part of the fuzz: no JAX, always the same seeds.

Programs agree with themselves op by op, compiled, mapped, differentiated and on other numbers of
threads; calls with wrong arguments are refused. `run.py` goes on for as long as one likes.
"""

import itertools
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import evaluate  # noqa: E402
import grammar  # noqa: E402
import hostile  # noqa: E402
import meshes  # noqa: E402
import trees  # noqa: E402

PROGRAMS, CHUNK = 240, 40
# Programs that are known to be wrong, by seed, and why: they must be so.
KNOWN = {}


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_programs_agree_with_themselves(first):
    import shardax

    wrong = {}
    for seed in range(first, first + CHUNK):
        source = grammar.program(seed).text()
        found = evaluate.answer(
            shardax, {"source": source, "way": "self", "reverse": seed % 2 == 0}
        )
        if found != {"value": []}:
            wrong[seed] = (source, found)
    unexpected = {seed: what for seed, what in wrong.items() if seed not in KNOWN}
    assert not unexpected, unexpected
    passing = [seed for seed in KNOWN if first <= seed < first + CHUNK and seed not in wrong]
    assert not passing, f"{passing} agree now; take them off the list"


def limits_of_memory_hold():
    """QEMU takes them and does not keep them."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))"
    command = [sys.executable, "-c", f"{limit}; import mmap; mmap.mmap(-1, 2**31)"]
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0


def test_wrong_calls_are_refused():
    """In a process of their own, which must live to the end. Some calls ask for more memory than
    the machine has, and a limit stops them."""
    import shardax

    if not limits_of_memory_hold():
        pytest.skip("no limit of memory holds here")
    names = hostile.functions(shardax)
    sources = [hostile.call(seed, names) for seed in range(3000)]
    lines = "".join(json.dumps({"source": s, "way": "call"}) + "\n" for s in sources)
    command = [sys.executable, str(HERE / "evaluate.py"), "shardax"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=100)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(sources), f"ends at {sources[len(answers)]}"
    inside = [
        (source, answer["error"])
        for source, answer in zip(sources, answers, strict=True)
        if "error" in answer and hostile.inside(answer["error"])
    ]
    assert not inside
    refused = sum("error" in answer for answer in answers)
    assert 500 < refused < 3000  # calls do get through


def test_threads_and_machine_code_do_not_matter():
    """The same bits on one thread and on three, of tile kernels and of machine code."""
    sources = [grammar.program(seed).text() for seed in range(1000, 1040)]
    lines = "".join(json.dumps({"source": s, "way": "jit"}) + "\n" for s in sources)
    command = [sys.executable, str(HERE / "evaluate.py"), "shardax"]
    outputs = [
        subprocess.run(
            command,
            input=lines,
            capture_output=True,
            text=True,
            timeout=100,
            env={**os.environ, "SHARDAX_NUM_THREADS": threads, "SHARDAX_CODEGEN": codegen},
        ).stdout
        for threads, codegen in (("1", "0"), ("3", "0"), ("3", "1"))
    ]
    assert outputs[0] == outputs[1] == outputs[2]
    assert len(outputs[0].splitlines()) == len(sources)


def test_the_same_seed_gives_the_same_program():
    assert grammar.program(7).text() == grammar.program(7).text() != grammar.program(8).text()


def test_programs_are_made_smaller():
    """Down to the part that matters, and what it needs to stand."""

    def sorts(node):
        return "jnp.sort" in node.text()

    programs = map(grammar.program, range(2000))
    for tree in itertools.islice((p for p in programs if sorts(p) and p.size() > 20), 3):
        small = trees.minimised(tree, sorts)
        assert sorts(small) and 2 * small.size() < tree.size()


def test_a_wrong_program_is_found():
    """The checks can fail: cos with the derivative of another function."""
    import shardax

    lying = shardax.custom_jvp(lambda x: shardax.numpy.cos(x))
    lying.defjvp(lambda p, t: (lying(*p), t[0]))
    source = "lying(x)"
    real = evaluate.names
    try:
        evaluate.names = lambda jax: {**real(jax), "lying": lying}
        assert evaluate.inconsistencies(shardax, source, True) == []
        assert any("differences" in f for f in evaluate.against_differences(shardax, source))
    finally:
        evaluate.names = real
    assert np.isfinite(evaluate.applied(shardax, "jnp.sin(x)", "grad")[0]).all()


def test_mapped_programs_are_the_same_compiled_and_recomputed():
    import shardax

    wrong = {}
    for seed in range(60):
        writer = meshes.Writer(seed)
        source = writer.program(call="")
        got = meshes.answer(shardax, source)
        if writer.around in ("", "jit"):
            other = meshes.Writer(seed).program(call="jit")
        elif "value" in got and "grad" in writer.around:
            source = meshes.Writer(seed).program(call="grad")
            got = meshes.answer(shardax, source)
            other = meshes.Writer(seed).program(call="remat grad")
        else:
            continue
        found = meshes.answer(shardax, other)
        found["types"] = got.get("types")  # recorded once for each time that it is traced
        if said := meshes.difference(got, found):
            wrong[seed] = (source, said)
    assert not wrong
