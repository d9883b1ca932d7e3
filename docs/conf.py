# docs/conf.py - the settings by which Sphinx makes the book of pages beside this file, notebooks
# and READMEs.
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))

from shardax import __version__  # noqa: E402

project = "shardax"
author = copyright = "The shardax authors"
release = version = __version__

extensions = ["myst_nb", "sphinx_copybutton", "reference"]
# The source folder is the checkout, so that links between files of the repository are links of the
# book too.
root_doc = "docs/index"
include_patterns = [
    "docs/*.md",
    "docs/*/*.md",
    "examples/*.ipynb",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "cpp/README.md",
    "cpp/*/README.md",
    "python/README.md",
]
exclude_patterns = [".*", "build", "**/.*"]

# Notebooks are stored with their outputs; tests/test_book.py runs the code of pages.
nb_execution_mode = "off"
nb_ipywidgets_js = {}  # scripts of another host
nb_merge_streams = True
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# Some names are public in two modules: a reference to one of them takes the first.
suppress_warnings = ["mystnb.mime_priority", "ref.python"]

toc_object_entries_show_parents = "hide"
html_theme = "furo"
html_title = "shardax"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"  # fences without a language hold printed text
pygments_style, pygments_dark_style = "friendly", "monokai"
