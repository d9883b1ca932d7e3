# docs/reference.py - the directive `reference`: public names of modules, with their docstrings.
"""`.. reference:: shardax.numpy shardax.numpy.fft` in a page describes all public names of these
modules. Docstrings are Google's style in plain text: characters that are markup in reStructuredText
are escaped first."""

import enum
import importlib
import inspect
import io
import re

import shardax
from docutils import nodes
from docutils.core import publish_doctree
from docutils.statemachine import StringList
from sphinx.ext.napoleon import Config, GoogleDocstring
from sphinx.util.docutils import SphinxDirective

CONFIG = Config(napoleon_use_rtype=False, napoleon_use_param=False, napoleon_use_ivar=True)
SECTION = re.compile(r"(Args|Returns|Raises|Yields|Attributes|Examples?|Notes?|References):")
# Names of the package that are there for its own sake.
NOT_PUBLIC = {"shardax": {"load_core", "install_tracebacks", "partial", "functools", "config"}}


def public_names(module):
    """The public names of a module: its `__all__`, or the names defined in it or below it."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return [name for name in listed if not inspect.ismodule(getattr(module, name))]
    hidden = NOT_PUBLIC.get(module.__name__, set())
    found = []
    for name in dir(module):
        value = getattr(module, name)
        if name.startswith("_") or name in hidden or inspect.ismodule(value):
            continue
        if is_own(module, name, value):
            found.append(name)
    return found


def is_own(module, name, value):
    home = getattr(value, "__module__", "") or ""
    tables = (getattr(module, "_NAMES", None) or {}).values()
    in_a_table = any(name in (t.split() if isinstance(t, str) else t) for t in tables)
    if module is shardax:
        return in_a_table or home.startswith("shardax")
    return in_a_table or home == module.__name__ or home.startswith(module.__name__ + ".")


def signature(value):
    """A function's parameters, without annotations and long defaults; "" where it has none."""
    try:
        told = inspect.signature(value)
    except (TypeError, ValueError):
        return "()" if callable(value) else ""
    empty = inspect.Parameter.empty
    parameters = [
        p.replace(annotation=empty, default=default_of(p)) for p in told.parameters.values()
    ]
    return str(told.replace(parameters=parameters, return_annotation=empty))


class Shown:
    """A default value as it is printed."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def default_of(parameter):
    value = parameter.default
    if value is inspect.Parameter.empty or isinstance(value, (bool, int, float, str, type(None))):
        return value
    if isinstance(value, type) or inspect.isroutine(value):
        return Shown(getattr(value, "__name__", "..."))
    text = repr(value)
    return Shown(text if len(text) < 30 and " at 0x" not in text else "...")


def escaped(text):
    """Prose in which `code` is code and nothing else is markup."""
    pieces = re.split(r"``([^`]+)``|`([^`]+)`", text)
    out = []
    for i in range(0, len(pieces), 3):
        out.append(re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", pieces[i]))
        code = next((p for p in pieces[i + 1 : i + 3] if p), None)
        if code:
            out.append(f"``{code.strip()}``")
    return "".join(out)


def plain(docstring):
    """The lines of a docstring: prose is escaped, examples stay as they are. Outside of sections
    (Args: and so on), which napoleon reads, indented `name: text`, `- text` are items of lists."""
    lines, in_example, in_section = [], False, False
    for line in inspect.cleandoc(docstring or "").splitlines():
        starts = line.lstrip().startswith(">>>")
        if starts and not in_example and lines and lines[-1].strip():
            lines.append("")
        in_example = starts or (in_example and bool(line.strip()))
        if in_example:
            lines.append(line)
            continue
        if line.strip() and not line.startswith(" "):
            in_section = bool(SECTION.fullmatch(line))
        indented = line.startswith(" ") and not in_section
        lines += item(line, lines) if indented else [escaped(line)]
    return lines


def item(line, before):
    """A line of an indented block as one of a list, or of the line before."""
    if re.match(r" +(- |[\w`.@-]+( or [\w`]+)?: )", line):
        return ["", f"* {escaped(line.strip().removeprefix('- '))}"]
    if before and before[-1].startswith("* "):
        before[-1] += " " + escaped(line.strip())
        return []
    return [escaped(line)]


def markup(docstring):
    """A docstring as reStructuredText, or as it is where that has faults or directives."""
    if re.search(r"^\s*\.\. ", docstring, re.MULTILINE):
        return as_it_is(docstring)
    lines = GoogleDocstring(plain(docstring), CONFIG).lines()
    told = io.StringIO()
    settings = {"report_level": 2, "halt_level": 5, "warning_stream": told}
    publish_doctree("\n".join(lines), settings_overrides=settings)
    return as_it_is(docstring) if told.getvalue() else lines


def as_it_is(docstring):
    return ["::", "", *("   " + line for line in inspect.cleandoc(docstring).splitlines())]


def described(name, value):
    """The description of one public name in reStructuredText."""
    home = (getattr(value, "__module__", None) or "").partition(".")[0]
    owner = {"builtins": "Python", "numpy": "NumPy"}.get(home)
    if owner and hasattr(value, "__name__"):
        return [f".. py:data:: {name}", "", f"   {owner}'s ``{value.__name__}``.", ""]
    kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
    called = signature(value) if kind != "data" else ""
    if kind == "class" and issubclass(value, BaseException):
        kind, called = "exception", ""
    if kind == "class" and issubclass(value, enum.Enum):
        called = ""
    head = [f".. py:{kind}:: {name}{called}", ""]
    # An instance's docstring is its class's: that of a constant tells nothing.
    docstring = getattr(value, "__doc__", None) if kind != "data" else None
    body = markup(docstring) if docstring else []
    if kind == "data" and isinstance(value, (int, float, str)):
        body = [f"``{value!r}``"]
    return head + ["   " + line if line else "" for line in body] + [""]


def first_line(module):
    """The purpose of a module, from its docstring's first line."""
    head = (module.__doc__ or "").strip().split("\n\n")[0]
    said = head.partition(" - ")[2] or head
    return " ".join(said.split())


class Reference(SphinxDirective):
    """Sections, one for each module that the argument names."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        sections = []
        for name in self.arguments[0].split():
            module = importlib.import_module(name)
            section = nodes.section(ids=["module-" + nodes.make_id(name)])
            section += nodes.title(text=name)
            said = first_line(module)
            text = [escaped(said[:1].upper() + said[1:]), ""]
            for member in public_names(module):
                text += described(f"{name}.{member}", getattr(module, member))
            self.state.nested_parse(StringList(text, source=f"<{name}>"), 0, section)
            sections.append(section)
        return sections


def setup(app):
    app.add_directive("reference", Reference)
    return {"parallel_read_safe": True}
