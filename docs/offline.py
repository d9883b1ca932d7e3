# docs/offline.py - a check that the built book loads no files of other hosts.
# python docs/offline.py DIR
"""Links that a reader follows may lead elsewhere; scripts, styles, fonts and pictures may not."""

import pathlib
import re
import sys

LOADS = re.compile(
    r"""<(?:script|img|iframe|source|object|embed)\b[^>]*?\b(?:src|data)=["']?(?:https?:)?//[^\s"'>]+"""
    r"""|<link\b[^>]*?\bhref=["']?(?:https?:)?//[^\s"'>]+|(?:url\(|@import )["']?https?://[^)"']+"""
)


def loads(folder):
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.suffix in (".html", ".css", ".svg"):
            for found in LOADS.finditer(path.read_text(encoding="utf-8")):
                yield f"{path}: {found[0][-100:]}"


if __name__ == "__main__":
    sys.exit("\n".join(loads(sys.argv[1])) or 0)
