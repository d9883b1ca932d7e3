"""python/pytest_shardax - a plug-in for pytest: tests of programs for many devices.

It is loaded where it is asked for: `pytest_plugins = ["pytest_shardax"]` in the conftest.py of a
project, or `pytest -p pytest_shardax`. It is a package of its own, so that loading it does not
import shardax: tests that use none of this pay nothing. It offers

  --as-jax                          `import jax` means shardax in the whole run
  --shardax-seed N                  the seed of `random_key`; it is shown where a test fails
  @pytest.mark.devices(8)           the test runs on 8 simulated devices; (1, 2, 8): on each count
  @pytest.mark.check_replicas       fails if devices that should be alike diverge
  @pytest.mark.seeds(5)             the test runs with 5 seeds in place of one
  devices, random_key               fixtures: the list of devices, a key of the test's own
"""

import hashlib
import unittest

import pytest

MARKERS = (
    "devices(n, ...): run on n simulated devices; with several numbers, on each of them",
    "check_replicas: fail if devices that should be alike diverge (shardax.debug.check_replicas)",
    "seeds(n): run with n different keys of the fixture random_key",
)
COUNT, SEED = "_shardax_devices", "_shardax_seed"  # the parameters of a test
REFUSED = pytest.StashKey()  # why the number of devices could not be set


def pytest_addoption(parser):
    group = parser.getgroup("shardax")
    group.addoption("--as-jax", action="store_true", help="`import jax` means shardax")
    group.addoption(
        "--shardax-seed", type=int, default=0, metavar="N", help="the seed of random_key (0)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """With `-p pytest_shardax` the name is there for every conftest.py, which may import jax."""
    if early_config.known_args_namespace.as_jax:
        _install_as_jax()


def pytest_configure(config):
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    if config.getoption("as_jax"):
        _install_as_jax()


def _install_as_jax():
    import shardax

    try:
        shardax.install_as_jax()
    except RuntimeError:
        raise pytest.UsageError(
            "--as-jax: the real jax is imported already, by a plug-in or a conftest.py; "
            "`-p pytest_shardax` in front of other plug-ins loads this one before them."
        ) from None


# ---- devices -------------------------------------------------------------------------------------


def _refuse(marker, item, text):
    pytest.fail(f"pytest.mark.{marker}: {item.nodeid}: {text}", pytrace=False)


def _are_counts(marker):
    numbers = marker.args
    return bool(numbers) and not marker.kwargs and all(type(n) is int and n > 0 for n in numbers)


def _given(marker):
    """The arguments of a mark, as they were written."""
    named = [f"{name}={value!r}" for name, value in marker.kwargs.items()]
    return f"({', '.join([*map(repr, marker.args), *named])})"


def _counts(item):
    """The numbers of devices that a test asks for, or None."""
    marker = item.get_closest_marker("devices")
    if marker and not _are_counts(marker):
        text = f"got {_given(marker)}; numbers of devices, from 1 on, was expected."
        _refuse("devices", item, text)
    return marker and marker.args


def pytest_generate_tests(metafunc):
    definition = metafunc.definition
    counts = _counts(definition)
    if counts:
        _parametrize(metafunc, COUNT, counts, "{}-devices")
    seeds = definition.get_closest_marker("seeds")
    if seeds:
        if "random_key" not in metafunc.fixturenames:
            text = (
                "it draws no numbers from the fixture random_key; give it an argument of that name."
            )
            _refuse("seeds", definition, text)
        if len(seeds.args) != 1 or not _are_counts(seeds):
            text = f"got {_given(seeds)}; one number of seeds, from 1 on, was expected."
            _refuse("seeds", definition, text)
        _parametrize(metafunc, SEED, range(seeds.args[0]), "seed-{}")
    replicas = definition.get_closest_marker("check_replicas")
    if replicas and (replicas.args or replicas.kwargs):
        _refuse("check_replicas", definition, f"got {_given(replicas)}; it takes no arguments.")


def _parametrize(metafunc, name, values, label):
    metafunc.fixturenames.append(name)
    metafunc.parametrize(name, values, ids=[label.format(value) for value in values])


def _parameter(item, name, default=None):
    callspec = getattr(item, "callspec", None)
    return callspec.params.get(name, default) if callspec else default


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Sets the number of devices before fixtures are made, and puts it back after the test."""
    count = _parameter(item, COUNT, _count_of_method(item))
    if count is None:
        yield
        return
    import shardax

    before = shardax.device_count()
    try:
        shardax.config.update("jax_num_cpu_devices", count)
    except (OverflowError, RuntimeError, ValueError) as error:  # more than there can be, say
        item.stash[REFUSED] = str(error)
    try:
        yield
    finally:
        shardax.config.update("jax_num_cpu_devices", before)


def _is_method_of_unittest(item):
    return issubclass(getattr(item, "cls", None) or object, unittest.TestCase)


def _count_of_method(item):
    """The number of devices of a method of unittest.TestCase: pytest does not parametrize it."""
    marker = item.get_closest_marker("devices")
    if not marker or not _is_method_of_unittest(item) or not _are_counts(marker):
        return None
    return marker.args[0]


def pytest_runtest_setup(item):
    if REFUSED in item.stash:
        _refuse("devices", item, item.stash[REFUSED])
    if not _is_method_of_unittest(item):
        return
    if len(_counts(item) or ()) > 1:
        _refuse(
            "devices", item, "methods of a unittest.TestCase run once; one number was expected."
        )
    if item.get_closest_marker("seeds"):
        _refuse("seeds", item, "methods of a unittest.TestCase run once and have no random_key.")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    if item.get_closest_marker("check_replicas") is None:
        yield
        return
    from shardax import debug

    watch = debug.check_replicas()
    watch.__enter__()
    outcome = yield
    if outcome.excinfo is None:
        try:
            watch.__exit__(None, None, None)
        except debug.ReplicasDiverged as error:
            outcome.force_exception(error)
    else:
        watch.gen.close()


@pytest.fixture
def devices():
    """The simulated devices of this test; pytest.mark.devices says how many."""
    import shardax

    return shardax.devices()


# ---- random numbers ------------------------------------------------------------------------------


def _seed_of(item):
    """A number of this test: of its name, --shardax-seed and the parameter of pytest.mark.seeds."""
    name = item.nodeid.split("[")[0].replace("\\", "/")
    given = f"{name} {item.config.getoption('shardax_seed')} {_parameter(item, SEED, 0)}"
    return int.from_bytes(hashlib.sha256(given.encode()).digest()[:4], "big") >> 1


@pytest.fixture
def random_key(request):
    """A key that differs from those of other tests, and is the same in each run."""
    from shardax import random

    return random.key(_seed_of(request.node))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if call.when == "call" and call.excinfo and "random_key" in getattr(item, "fixturenames", ()):
        option = item.config.getoption("shardax_seed")
        text = f"random.key({_seed_of(item)}), --shardax-seed {option}"
        outcome.get_result().sections.append(("random_key", text))
