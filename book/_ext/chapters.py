"""The chapters: `{drawn} MODULE.FUNCTION` puts a picture of `figures` there, `{kernel-findings} NAME` what the emulator
found in a kernel of theirs, and `{sanitizers}` the names of findings beside compute-sanitizer's tools."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

import experiments
import measured
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from grader.emulator.machine.records import TOOLS

FIGURES = Path(__file__).parent / "figures"


class Drawn(SphinxDirective):
    """`{drawn} MODULE.FUNCTION`: that picture, with the content as its caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        module, _, function = self.arguments[0].partition(".")
        for file in sorted(FIGURES.glob("*.py")):
            self.env.note_dependency(str(file))
        picture = getattr(import_module(f"figures.{module}"), function, None)
        if picture is None:
            raise self.error(f"there is no picture {self.arguments[0]}")
        opening = f'<figure class="picture" tabindex="0">{picture()}<figcaption>'
        return [
            nodes.raw("", opening, format="html"),
            *self.parse_content_to_nodes(),
            nodes.raw("", "</figcaption></figure>", format="html"),
        ]


class KernelFindings(SphinxDirective):
    """`{kernel-findings} NAME`: the findings of a run of `experiments`, each with its remedy."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        shown: list[str] = []
        for found in getattr(experiments, self.arguments[0])().findings:
            shown += textwrap.wrap(f"{found.tool}, line {found.line}: {found.message}", 84)
            shown += textwrap.wrap(found.remedy or "", 80, initial_indent="    ", subsequent_indent="    ")
        text = "\n".join(shown)
        return [nodes.literal_block(text, text, language="none")]


class Sanitizers(SphinxDirective):
    """`{sanitizers}`: a row for each tool of compute-sanitizer, with the findings that it groups."""

    def run(self) -> list[nodes.Node]:
        kinds: dict[str, list[str]] = defaultdict(list)
        for kind, tool in TOOLS.items():
            kinds[tool].append(kind.replace("_", " "))
        rows = [(nodes.literal(tool, tool), ", ".join(kinds[tool])) for tool in sorted(kinds)]
        return [measured.table(["compute-sanitizer's tool", "findings here"], rows, kind="words")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("drawn", Drawn)
    app.add_directive("kernel-findings", KernelFindings)
    app.add_directive("sanitizers", Sanitizers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
