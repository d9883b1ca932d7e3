# examples/exercises/conftest.py - grades answers: pytest examples/exercises [--answers FOLDER].
import importlib.util
import pathlib

import pytest

pytest_plugins = ["pytest_shardax"]


def pytest_addoption(parser):
    parser.addoption("--answers", metavar="FOLDER", help="where answers lie; beside the tests")


@pytest.fixture
def answer(request):
    """The module of answers that belongs to the test's file: test_e01_rows.py has e01_rows.py."""
    here = request.path.parent
    folder = pathlib.Path(request.config.getoption("answers") or here)
    path = folder / request.path.name.removeprefix("test_")
    if not path.exists():
        pytest.fail(f"there is no {path.name} in {folder}", pytrace=False)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
