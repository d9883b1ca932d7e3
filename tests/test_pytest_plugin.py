"""tests/test_pytest_plugin.py - the package's plug-in: devices, replicas, seeds."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

pytest_plugins = ["pytester"]

PLUGINS = ["-p", "pytest_shardax", "-p", "no:xdist", "-p", "no:cacheprovider"]


@pytest.fixture
def run(pytester):
    """Runs a test file in a pytest of its own process, without this suite's settings."""

    def run(text, *options):
        pytester.makepyfile(text)
        return pytester.runpytest_subprocess(*PLUGINS, *options)

    return run


def test_devices_are_set_and_put_back(run):
    done = run("""
        import pytest, shardax

        @pytest.mark.devices(3)
        def test_three(devices):
            assert len(devices) == shardax.device_count() == 3

        def test_as_before(devices):
            assert len(devices) == 8

        @pytest.mark.devices(1, 2, 5)
        def test_each(devices):
            n = len(devices)
            total = shardax.pmap(lambda x: shardax.lax.psum(x, "i"), "i")(shardax.numpy.ones(n))
            assert float(total[0]) == n

        @pytest.fixture
        def count():
            return shardax.device_count()

        @pytest.mark.devices(4)
        def test_fixtures_see_them(count):
            assert count == 4
    """)
    done.assert_outcomes(passed=6)


def test_counts_are_in_the_names_of_tests(run):
    done = run(
        """
        import pytest

        @pytest.mark.devices(1, 8)
        def test_each():
            pass
    """,
        "--collect-only",
        "-q",
    )
    done.stdout.fnmatch_lines(["*test_each?1-devices?", "*test_each?8-devices?"])


@pytest.mark.parametrize("argument", ["", "0", "-1", "'8'", "2.0", "True", "2, platform='cpu'"])
def test_devices_wants_numbers(run, argument):
    done = run(f"""
        import pytest

        @pytest.mark.devices({argument})
        def test():
            pass
    """)
    assert done.ret != 0
    text = done.stdout.str() + done.stderr.str()
    assert f"py::test: got ({argument})" in text
    assert "numbers of devices, from 1 on, was expected" in text
    assert "_hookexec" not in text  # no frames of pytest's own


@pytest.mark.parametrize("count", [2**20 + 1, 2**40, 10**30])
def test_more_devices_than_there_can_be(run, count):
    """The test that asks for them fails, and no other."""
    done = run(f"""
        import pytest, shardax, unittest

        @pytest.mark.devices(2, {count})
        def test_two():
            pass

        class Tests(unittest.TestCase):
            @pytest.mark.devices({count})
            def test_method(self):
                pass

        def test_other():
            assert shardax.device_count() == 8
    """)
    done.assert_outcomes(passed=2, errors=2)
    for name in (f"test_two?{count}-devices?", "Tests::test_method"):
        said = f"*pytest.mark.devices: *::{name}: *{count} *from 1 to 1048576 *"
        done.stdout.fnmatch_lines([said])


@pytest.mark.parametrize("argument", ["3", "raises=False"])
def test_check_replicas_takes_no_arguments(run, argument):
    done = run(f"""
        import pytest

        @pytest.mark.check_replicas({argument})
        def test():
            pass
    """)
    assert done.ret != 0
    assert f"py::test: got ({argument}); it takes no arguments" in done.stdout.str()


STEP = """
    import pytest, shardax, shardax.numpy as jnp
    from shardax import lax

    def train(average):
        def step(w, x):
            g = shardax.grad(lambda w: jnp.mean((w * x) ** 2))(w)
            return w - 0.1 * (lax.pmean(g, "i") if average else g)

        step = shardax.pmap(step, "i")
        w = jnp.ones(8)
        for _ in range(2):
            w = step(w, jnp.arange(8.0))
"""


def test_forgotten_averages_fail(run):
    done = run(
        STEP
        + """
    @pytest.mark.check_replicas
    def test_without_average():
        train(False)

    @pytest.mark.check_replicas
    def test_with_average():
        train(True)

    def test_not_asked_for():
        train(False)

    @pytest.mark.check_replicas
    def test_own_failure_comes_first():
        train(True)
        assert "own" == "failure"
    """
    )
    done.assert_outcomes(passed=2, failed=2)
    done.stdout.fnmatch_lines(["*ReplicasDiverged: check_replicas: devices diverged at call *"])
    done.stdout.fnmatch_lines(["*assert 'own' == 'failure'*"])


def test_the_book_says_that_its_test_fails_without_the_average(run):
    page = pathlib.Path(__file__).parent.parent / "docs" / "testing.md"
    text = re.search(r"```python\n(import pytest.*?)```", page.read_text("utf-8"), re.S)[1]
    done = run(text.replace('lax.pmean(g, "batch")', "g"), "-k", "test_replicas_stay_alike")
    done.assert_outcomes(failed=3, deselected=3)
    done.stdout.fnmatch_lines(["*ReplicasDiverged: check_replicas: devices diverged at call *"])


def test_methods_of_unittest(run):
    done = run(
        STEP
        + """
    import unittest

    class Tests(unittest.TestCase):
        @pytest.mark.devices(2)
        def test_two(self):
            assert shardax.device_count() == 2

        def test_as_before(self):
            assert shardax.device_count() == 8

        @pytest.mark.check_replicas
        def test_without_average(self):
            train(False)

        @pytest.mark.check_replicas
        def test_own_failure_comes_first(self):
            train(True)
            assert "own" == "failure"
    """
    )
    done.assert_outcomes(passed=2, failed=2)
    done.stdout.fnmatch_lines(["*ReplicasDiverged: check_replicas: devices diverged at call *"])
    done.stdout.fnmatch_lines(["*assert 'own' == 'failure'*"])


@pytest.mark.parametrize(
    "marker, said",
    [
        ("devices(1, 2)", "methods of a unittest.TestCase run once"),
        ("devices(0)", "numbers of devices, from 1 on, was expected"),
        ("seeds(3)", "methods of a unittest.TestCase run once"),
    ],
)
def test_methods_of_unittest_run_once(run, marker, said):
    done = run(f"""
        import pytest, unittest

        class Tests(unittest.TestCase):
            @pytest.mark.{marker}
            def test(self):
                pass
    """)
    assert done.ret != 0
    assert "Tests::test: " in done.stdout.str() and said in done.stdout.str()


KEYS = """
    import pytest
    from shardax import random

    def test_one(random_key, record_property):
        print("key", random.key_data(random_key))
        assert 0

    def test_other(random_key):
        print("key", random.key_data(random_key))
        assert 0

    @pytest.mark.seeds(3)
    def test_three(random_key):
        print("key", random.key_data(random_key))
        assert 0
"""


def keys(done):
    return [line for line in done.stdout.lines if line.startswith("key ")]


def test_keys_differ_and_are_the_same_again(run):
    first, again = keys(run(KEYS)), keys(run(KEYS))
    assert len(set(first)) == len(first) == 5
    assert first == again
    assert not set(keys(run(KEYS, "--shardax-seed=7"))) & set(first)


def test_failures_tell_the_seed(run):
    done = run(KEYS, "--shardax-seed=7", "-k", "test_one")
    done.stdout.fnmatch_lines(["*random.key(*), --shardax-seed 7"])


def test_seeds_without_a_key_are_refused(run):
    done = run("""
        import pytest

        @pytest.mark.seeds(3)
        def test():
            pass
    """)
    assert done.ret != 0
    assert "draws no numbers from the fixture random_key" in done.stdout.str() + done.stderr.str()


@pytest.mark.parametrize("argument", ["", "0", "2, 3"])
def test_seeds_wants_one_number(run, argument):
    done = run(f"""
        import pytest

        @pytest.mark.seeds({argument})
        def test(random_key):
            pass
    """)
    assert done.ret != 0
    assert "py::test: got (" in done.stdout.str()
    assert "one number of seeds, from 1 on, was expected" in done.stdout.str()


def test_jax_may_mean_shardax(run):
    done = run(
        """
        import jax

        def test():
            assert jax.Array.__module__.startswith("shardax")
    """,
        "--as-jax",
    )
    done.assert_outcomes(passed=1)


def test_a_conftest_may_import_jax(pytester, run):
    """As those of many projects do, to set flags."""
    pytester.makeconftest("import jax; jax.config.update('jax_enable_x64', True)")
    done = run(
        """
        import jax.numpy as jnp

        def test():
            assert jnp.ones(2).dtype == "float64"
    """,
        "--as-jax",
    )
    done.assert_outcomes(passed=1)


def test_the_real_jax_comes_too_early(pytester, run):
    pytester.makepyfile(jax="__name__ = 'jax'", other="import jax")
    pytester.syspathinsert()
    done = pytester.runpytest_subprocess("-p", "other", *PLUGINS, "--as-jax")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    said = done.stdout.str() + done.stderr.str()
    assert "ERROR: --as-jax: the real jax is imported already, by a plug-in" in said
    assert "Traceback" not in said and "INTERNALERROR" not in said


def test_runs_without_it_do_not_import_shardax(run):
    done = run("""
        import sys

        def test():
            assert "pytest_shardax" in sys.modules
            assert "shardax" not in sys.modules
    """)
    done.assert_outcomes(passed=1)


def test_a_conftest_may_ask_for_it(pytester):
    pytester.makeconftest("pytest_plugins = ['pytest_shardax']")
    pytester.makepyfile("""
        import pytest

        @pytest.mark.devices(2)
        def test(devices, random_key):
            assert len(devices) == 2
    """)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_markers_are_listed():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "pytest_shardax", "--markers"],
        capture_output=True,
        text=True,
        cwd=os.path.dirname(__file__),
    )
    assert "@pytest.mark.devices(n, ...): run on n simulated devices" in done.stdout
