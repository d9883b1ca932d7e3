"""tests/peak_memory.py - the most memory that a process takes, from some moment on.

getrusage cannot tell: a child's ru_maxrss begins with its parent's.
"""

import os

import pytest

FOLDER = os.path.dirname(os.path.abspath(__file__))  # scripts find this module there
linux_only = pytest.mark.skipif(
    not os.path.exists("/proc/self/clear_refs"), reason="peaks are Linux's"
)
# The first line of a script that tests run.
IMPORT = f"import sys; sys.path.insert(0, {FOLDER!r}); from peak_memory import Peak"


def _kilobytes(name):
    with open("/proc/self/status", encoding="ascii") as status:
        return int(next(line for line in status if line.startswith(name)).split()[1])


class Peak:
    """Begins at what the process takes now."""

    def __init__(self):
        with open("/proc/self/clear_refs", "w", encoding="ascii") as peak:
            peak.write("5")  # the peak is set back
        self.before = _kilobytes("VmRSS")

    def kilobytes(self):
        return _kilobytes("VmHWM") - self.before
