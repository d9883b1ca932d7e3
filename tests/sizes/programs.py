"""tests/sizes/programs.py - programs of three sizes: one for each pass, and each op with bodies."""

import loop_programs  # noqa: F401
import op_programs  # noqa: F401
from program_table import LEAST, PROGRAMS  # noqa: F401
