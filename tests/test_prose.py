"""tests/test_prose.py - sentences of comments, docstrings and pages: short, with a noun as subject.

The finder takes comments of C++ and Python, docstrings and Markdown apart into paragraphs, and
these into sentences. Deeper lines are examples or tables and are left out, as are code and tables
of pages. An entry of a list, or of a section such as Args, is a paragraph of its own.
"""

import functools
import pathlib
import re
import subprocess
from typing import NamedTuple

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_WORDS = 25
CLAUSE = re.compile(
    r"(?:What|Where|Which|That|Who|Whom|Whose|Whether|How|Whatever|Wherever|Whichever|Whoever)\b"
    r"(?!-)",  # "How-to" is a noun
    re.IGNORECASE,
)
HOW_PAGE = re.compile(r"#+ How (?:it|to) ")  # headings that readers expect
# After a semicolon or a colon.
LATER_CLAUSE = re.compile(r"(?<=[;:] )(?:what|whatever|whoever|whichever)\b")

CPP_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.[^'\n]*|[^'\\\n])'",
    re.DOTALL,
)
PYTHON_TOKEN = re.compile(
    r"#[^\n]*|(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?''')"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Yields|Example|Remedies):$")
LABEL = re.compile(r"(?:[*`\w.,\[\]() -]|\"[^\"]*\"|'[^']*'){1,60}:(?:\s+|$)")
ITEM = re.compile(r"(?:[-*+]|\d+[.)]) ")
# Docstrings stand after a colon, or first in a file.
BEFORE_DOCSTRING = re.compile(r"(?::[ \t]*(?:#[^\n]*)?\n\s*|\A(?:\s*#[^\n]*)*\s*)r?\Z")

END = re.compile(r"(?<=[.!?])[\"')\]*`]*\s+|(?<=[;:])\s+(?=[A-Z][a-z])")
ABBREVIATION = re.compile(r"(?:\.\.\.[\])`]*|\b(?:e\.g|i\.e|vs|cf|al|vol|eq|pp|p)\.)\s*$")
WORD = re.compile(r"[\"'(\[*]*[A-Za-z]")
LISTED_CODE = re.compile(r"`[^`]*`(?:(?:,| and| or) `[^`]*`)+")


class Line(NamedTuple):
    number: int
    column: int  # of its first letter
    text: str


class Paragraph(NamedTuple):
    lines: tuple
    label: int = 0  # the length of what stands before its first sentence: a name, "- ", a path

    @property
    def text(self):
        return " ".join(line.text for line in self.lines)


def runs(lines, first):
    """Paragraphs of a comment: blank lines and items part them, deeper lines are left out.

    `first` is the column that the first line counts as: a docstring begins behind its quotes.
    """
    margin = min((line.column for line in lines[1:] if line.text), default=first)
    found, base = [], None
    for line in lines:
        item = ITEM.match(line.text)
        column = first if line is lines[0] else line.column
        if not line.text or line.text.startswith("%%") or set(line.text) <= set("-=~*/ "):
            base = None
        elif item or column <= margin and (base is None or column < base):
            found.append([line])
            base = column
            depth = column + (len(item[0]) if item else 0)
        elif base is not None and column in (base, depth):
            if found[-1][-1].number == line.number - 1:
                found[-1].append(line)
            else:  # after an example
                found.append([line])
    return found


def label_of(text):
    """The length of the path or the mark of an item that a paragraph begins with."""
    match = re.match(r"[\w./-]+\.(?:cpp|h|py) - |#+ |(?:[-*+]|\d+[.)]) (?:`[^`]*`: )?", text)
    return match.end() if match else 0


def paragraphs_of_comment(lines, first=None):
    for run in runs(lines, lines[0].column if first is None else first):
        yield Paragraph(tuple(run), label_of(run[0].text))


def line_of(number, text, column):
    stripped = text.strip()
    return Line(number, column + len(text) - len(text.lstrip()), stripped)


def comments(text, token, mark):
    """Runs of comments of one column, as lists of lines."""
    run, last, begin, number = [], None, 0, 1
    for match in token.finditer(text):
        if not match[0].startswith(mark):
            continue
        number += text.count("\n", begin, match.start())
        begin = match.start()
        column = begin - text.rfind("\n", 0, begin) - 1
        alone = not text[begin - column : begin].strip()
        if run and (last != (number - 1, column) or not alone):
            yield run
            run = []
        skip = len(match[0]) - len(match[0].lstrip(mark))
        run.append(line_of(number, match[0][skip:], column + skip))
        last = (number, column)
    if run:
        yield run


def docstrings(text):
    """The lines of each docstring."""
    for match in PYTHON_TOKEN.finditer(text):
        if match[0].startswith('"""') and BEFORE_DOCSTRING.search(
            text,
            max(0, text.rfind("\n", 0, max(0, text.rfind("\n", 0, match.start())))),
            match.start(),
        ):
            number = text.count("\n", 0, match.start()) + 1
            column = match.start() - text.rfind("\n", 0, match.start()) - 1
            first, *rest = match[0][3:-3].split("\n")
            yield [Line(number, column + 3, first.strip())] + [
                line_of(number + i, line, 0) for i, line in enumerate(rest, 1)
            ]


def paragraphs_of_docstring(lines):
    """The paragraphs before sections, and the entries of these."""
    section = next((i for i, line in enumerate(lines) if SECTION.match(line.text)), len(lines))
    margin = min((line.column for line in lines[1:] if line.text), default=0)
    yield from paragraphs_of_comment(lines[:section], margin)
    heading, entry = None, []

    def done():
        if entry:
            label = LABEL.match(entry[0].text) if heading in ("Args:", "Attributes:") else None
            yield Paragraph(tuple(entry), label.end() if label else label_of(entry[0].text))
        entry.clear()

    named, body = False, 0
    for line in lines[section:]:
        if SECTION.match(line.text):
            yield from done()
            heading, body = line.text, None
            named = heading in ("Args:", "Attributes:", "Raises:")
        elif not line.text or heading == "Example:":
            yield from done()
        else:
            body = line.column if body is None else body
            if (named and line.column == body) or line.column < body or ITEM.match(line.text):
                yield from done()
            entry.append(line)
    yield from done()


def paragraphs_of_page(text):
    """Paragraphs, headings and items of Markdown, without code and tables."""
    run, code = [], False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        stripped = line.strip()
        fence = stripped.startswith("```")
        item = ITEM.match(stripped)
        ends = run and run[0].text.startswith("#")
        if (fence or code or item or ends or not stripped or stripped[0] in "|#<") and run:
            yield Paragraph(tuple(run), label_of(run[0].text))
            run = []
        if fence:
            code = not code
        elif not code and stripped and stripped[0] not in "|<":
            if run or item or not line.startswith("    "):
                run.append(line_of(number, line, 0))


def paragraphs(name, text):
    if name.endswith(".md"):
        yield from paragraphs_of_page(text)
    elif name.endswith(".py"):
        for lines in docstrings(text):
            yield from paragraphs_of_docstring(lines)
        for lines in comments(text, PYTHON_TOKEN, "#"):
            yield from paragraphs_of_comment(lines)
    else:
        for lines in comments(text, CPP_TOKEN, "//"):
            yield from paragraphs_of_comment(lines)


def sentences(text):
    begin = 0
    for match in END.finditer(text):
        if not ABBREVIATION.search(text[begin : match.end()]):
            yield text[begin : match.end()].strip()
            begin = match.end()
    if text[begin:].strip():
        yield text[begin:].strip()


def words(sentence):
    """The number of words: formulas count by their names, a list of names in code as one."""
    return sum(
        map(bool, map(WORD.match, LISTED_CODE.sub("names", sentence).replace("`", "").split()))
    )


def fault(sentence, labelled=False):
    """None, or what is wrong with a sentence; those after a label may begin with "whether"."""
    if words(sentence) > MOST_WORDS:
        return f"{words(sentence)} words"
    match = CLAUSE.match(sentence) or LATER_CLAUSE.search(sentence)
    if match and not sentence.endswith("?") and not (labelled and sentence[0].islower()):
        return f'begins with "{match[0]}"'
    return None


def faults(name, text):
    """(paragraph, sentence, fault) of all that is to be said differently."""
    for paragraph in paragraphs(name, text):
        label = paragraph.text[: paragraph.label].rstrip()
        labelled = label.endswith(":") and not ITEM.match(label)
        if label.startswith("#") and HOW_PAGE.match(paragraph.text):
            continue
        for i, sentence in enumerate(sentences(paragraph.text[paragraph.label :])):
            found = fault(sentence, labelled and i == 0)
            if found:
                yield paragraph, sentence, found


@functools.cache
def files():
    names = subprocess.run(
        ["git", "ls-files", "*.cpp", "*.h", "*.py", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return [name for name in names if (ROOT / name).is_file()]


# Folders and files whose prose is checked.
CLEAN = ("",)
LEFT = ()


def test_sentences():
    found = [
        f"{name}:{paragraph.lines[0].number}: {why}: {sentence}"
        for name in files()
        if name.startswith(CLEAN) and not name.startswith(LEFT)
        for paragraph, sentence, why in faults(name, (ROOT / name).read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_there_are_files():
    assert len(files()) > 1000


LONG = "A " + "very " * 22 + "long sentence."
CASES = [
    ("a.cpp", f"// {LONG}", []),
    ("a.cpp", f"// Much {LONG}", ["26 words"]),
    ("a.cpp", f"int x;  // much {LONG}", ["26 words"]),
    ("a.cpp", "int x;  // which one", ['begins with "which"']),
    ("a.cpp", "// What is written.\nint x;", ['begins with "What"']),
    ("a.cpp", "// a.cpp - how a program runs.", ['begins with "how"']),
    ("a.cpp", "// Adds. Where it fails,\n// it stops.", ['begins with "Where"']),
    ("a.cpp", "// Adds; what is left\n// stays.", ['begins with "what"']),
    ("a.cpp", "// Which is it?", []),
    ("a.cpp", f'// Adds\n//   {LONG} {LONG}\n// or not.\nf("// What");', []),
    ("a.cpp", f"// Much\n// - {LONG}\n// - {LONG}", []),
    ("a.cpp", f"int x;  // much\n// {LONG}", []),
    ("a.py", f'def f():\n    """Much {LONG}"""', ["26 words"]),
    ("a.py", f'def f():\n    """Much\n    {LONG}"""', ["26 words"]),
    ("a.py", f"# Much\n# {LONG}", ["26 words"]),
    ("a.py", 'x = """What is it"""\ny = "# What"', []),
    ("a.py", f'"""Adds.\n\nArgs:\n  x: whether it is.\n  y: much\n    {LONG}\n"""', ["26 words"]),
    ("a.py", f'"""Adds.\n\nArgs:\n  much: {LONG}\n  x: {LONG}\n"""', []),
    (
        "a.py",
        f'"""Adds.\n\nReturns:\n  Much\n  {LONG}\n\n  How it is.\n"""',
        ["26 words", 'begins with "How"'],
    ),
    ("a.py", f'"""Adds.\n\nExample:\n  >>> What {LONG}\n"""', []),
    ("a.md", f"Much\n{LONG}\n", ["26 words"]),
    ("a.md", "# What is\nsaid\n## How it works\n", ['begins with "What"']),
    ("a.md", f"# One\n\n```\nmuch {LONG}\n```\n\n| what | where |\n", []),
    ("a.md", f"1. Much\n   {LONG}\n2. {LONG}\n", ["26 words"]),
]


@pytest.mark.parametrize("name, text, expected", CASES)
def test_finder(name, text, expected):
    assert [why for _, _, why in faults(name, text)] == expected
