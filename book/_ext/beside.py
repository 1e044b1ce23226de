"""`{beside} NAME: SECTION` shows a section of a CUDA C++ program beside the same section of the PyCUDA program.

Both lie in book/machine/programs. A section begins after a comment, `// --- Launch` or `# --- Launch`, and ends where
the next one begins, or where main begins or ends.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PROGRAMS = Path(__file__).resolve().parents[1] / "machine" / "programs"
SIDES = ((".cu", "CUDA C++", "cuda"), (".py", "PyCUDA", "python"))
_HEADING = re.compile(r"^\s*(?://|#) --- (.+)$", re.MULTILINE)


def sections(path: Path) -> dict[str, str]:
    """The sections of a program by their headings, in their order, without the indentation that all lines share."""
    _, *parts = _HEADING.split(path.read_text(encoding="utf-8"))
    found = zip(parts[::2], parts[1::2], strict=True)
    return {heading: textwrap.dedent(_own(text)) for heading, text in found}


def _own(text: str) -> str:
    """Without what is indented less than the section's first line, and without what follows; main begins none."""
    lines = text.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    for number, line in enumerate(lines):
        outside = line.strip() and len(line) - len(line.lstrip()) < indent
        if outside or re.match(r"int main\(", line):
            lines = lines[:number]
            break
    return "\n".join(lines).rstrip()


class Beside(SphinxDirective):
    """`{beside} NAME: SECTION`."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        name, _, section = (part.strip() for part in self.arguments[0].partition(":"))
        whole = nodes.container(classes=["beside"])
        for suffix, title, language in SIDES:
            path = PROGRAMS / f"{name}{suffix}"
            self.env.note_dependency(str(path))
            text = sections(path).get(section)
            if text is None:
                raise self.error(f"{path.name} has no section {section!r}")
            side = nodes.container(classes=["beside-side"])
            side += nodes.paragraph("", title, classes=["beside-title"])
            side += nodes.literal_block(text, text, language=language)
            whole += side
        return [whole]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("beside", Beside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
