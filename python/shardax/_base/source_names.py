# shardax/_base/source_names.py - names of source files and of cells, as users know them.
import os
import re
import sys


def file_name(path):
    """The last part of a file's path; of a notebook's cell its number: "cell 3" for In [3].

    Kernels compile a cell as a file named after a hash of its text.

    >>> file_name("scripts/train.py")
    'train.py'
    """
    return _cell(path) or os.path.basename(path)


def _cell(path):
    """The cell of IPython's compiler that has this name; None for files."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    named = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = named and named(path)  # ("Cell", "In[3]")
    number = found and re.search(r"\d+", found[1])
    return f"cell {number[0]}" if number else None
