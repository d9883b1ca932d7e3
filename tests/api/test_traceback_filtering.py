"""tests/api/test_traceback_filtering.py - frames that exceptions lose on their way out of the
package."""

import contextlib
import gc
import traceback
import weakref

import pytest
import shardax as jax
from shardax import lax
from shardax._base.tracebacks import UnfilteredStackTrace, api_boundary


def fails(*_):
    raise ValueError("mine")


@jax.jit
def through_jit(x):
    return lax.scan(fails, x, None, length=2)


@pytest.fixture
def mode(request):
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", request.param)
    yield request.param
    jax.config.update("jax_traceback_filtering", before)


def raised(*args):
    with pytest.raises(ValueError, match="mine") as info:
        through_jit(*args)
    return info.value


def names(exception):
    return [frame.name for frame in traceback.extract_tb(exception.__traceback__)]


@pytest.mark.parametrize("mode", ["auto", "quiet_remove_frames"], indirect=True)
def test_frames_are_removed_and_a_note_says_so(mode):
    found = raised(1.0)
    assert names(found) == ["raised", "through_jit", "fails"]
    if hasattr(found, "add_note"):  # from Python 3.11 on
        assert len(found.__notes__) == 1 and "JAX_TRACEBACK_FILTERING=off" in found.__notes__[0]
    assert found.__cause__ is None


class WithoutNotes(ValueError):
    """As exceptions of Python 3.10 are."""

    @property
    def add_note(self):
        raise AttributeError("add_note")


@pytest.mark.parametrize("mode", ["quiet_remove_frames"], indirect=True)
def test_exceptions_that_take_no_notes_come_out_all_the_same(mode):
    def fails(c, x):
        raise WithoutNotes("mine")

    with pytest.raises(WithoutNotes, match="mine") as caught:
        lax.scan(fails, 1.0, None, length=2)
    assert names(caught.value)[-1] == "fails" and "scan" not in names(caught.value)


@pytest.mark.parametrize("mode", ["remove_frames"], indirect=True)
def test_the_cause_has_all_frames(mode):
    found = raised(1.0)
    assert names(found) == ["raised", "through_jit", "fails"]
    assert isinstance(found.__cause__, UnfilteredStackTrace)
    assert "scan" in names(found.__cause__) and names(found.__cause__)[-1] == "fails"


@pytest.mark.parametrize("mode", ["tracebackhide"], indirect=True)
def test_frames_are_marked(mode):
    entries = traceback.walk_tb(raised(1.0).__traceback__)
    hidden = {f.f_code.co_name: "__tracebackhide__" in f.f_locals for f, _ in entries}
    assert hidden["scan"] and not hidden["fails"] and not hidden["through_jit"]


@pytest.mark.parametrize("mode", ["tracebackhide"], indirect=True)
def test_exceptions_that_leave_a_boundary_are_in_no_cycle(mode):
    class Called:
        def __call__(self):
            api_boundary(fails)()

    called = Called()
    known = weakref.ref(called)
    gc.disable()
    try:
        with contextlib.suppress(ValueError):
            called()
        del called
        assert known() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("mode", ["off"], indirect=True)
def test_exceptions_stay_as_they_are(mode):
    found = raised(1.0)
    assert "scan" in names(found) and not hasattr(found, "__notes__")


def test_other_modes_are_refused():
    with pytest.raises(ValueError, match="jax_traceback_filtering must be one of 'off', 'auto'"):
        jax.config.update("jax_traceback_filtering", "some")
