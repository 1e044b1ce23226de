"""The notebooks: their table of contents, cells of CUDA C++ coloured as such, and outputs that need a running kernel
left out (`%%kernel` cells are not Python, and a slider on a page without a kernel would do nothing: its picture,
which follows it, says the same)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput, visit_HideCellInput
from sphinx.application import Sphinx
from sphinx.directives.other import TocTree
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator

from grader.workbook import topics

ROOT = Path(__file__).resolve().parents[2]
KERNEL_CELL = "%%kernel"
TEXT_COLOUR = re.compile(r"(?<![-\w])color:\s*#([0-9a-fA-F]{6})")
WIDGET = "application/vnd.jupyter.widget-view+json"


class Notebooks(TocTree):
    """`{notebooks} topics` or `{notebooks} NAME NAME…`: those notebooks, each with its first paragraph."""

    has_content = False
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # whichever notebook comes or goes
        names = self.arguments[0].split()
        if names == ["topics"]:
            names = [name for name in topics.discover(ROOT) if _is_there(name)]
        self.content = StringList([f"/notebooks/{name}" for name in names], source="notebooks")
        self.options["hidden"] = None
        described = "\n\n".join(f"[](/notebooks/{name}.ipynb)\n: {_first_paragraph(name)}" for name in names)
        return [*super().run(), *self.parse_text_to_nodes(described)]


def _first_paragraph(name: str) -> str:
    """What a notebook is about: the paragraph under its title, in one line."""
    cells = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return "".join(cells[0]["source"]).split("\n\n")[1].replace("\n", " ")


def _is_there(name: str) -> bool:
    return (ROOT / "notebooks" / f"{name}.ipynb").is_file()


class Cells(SphinxTransform):
    """Colours cells of CUDA C++, and makes of outputs what a page without a kernel, light or dark, can show."""

    default_priority = 210

    def apply(self, **_: Any) -> None:
        for block in self.document.findall(nodes.literal_block):
            if block.astext().startswith(KERNEL_CELL) and "__global__" in block.astext():
                block["language"] = "cuda"  # others are schedules, which are Python
        for bundle in list(self.document.findall(_is_bundle)):
            if any(
                item.get("mime_type") == WIDGET for item in bundle.children if isinstance(item, nodes.Element)
            ):
                bundle.parent.remove(bundle)

        for bundle in self.document.findall(_is_bundle):
            for html in bundle.findall(nodes.raw):
                html[:] = [nodes.Text(TEXT_COLOUR.sub(_for_either_ground, html.astext()))]


def _for_either_ground(found: re.Match[str]) -> str:
    """A colour that was chosen for a light page, with a paler one for a dark page: half of the way to white."""
    paler = "".join(f"{(int(found[1][at : at + 2], 16) + 255) // 2:02x}" for at in (0, 2, 4))
    return f"color:light-dark(#{found[1]},#{paler})"


def _is_bundle(node: nodes.Node) -> bool:
    """Whether this holds the forms of one output, of which a page shows the best."""
    return isinstance(node, nodes.container) and node.get("nb_element") == "mime_bundle"


def open_fold(self: HTML5Translator, node: HideCodeCellNode) -> None:
    """A folded cell is called what it shows, "A solution": myst-nb hides these words from screen readers."""
    visit_HideCellInput(self, node)
    self.body[-4:] = [re.sub(r' aria-label="[^"]*"', "", part) for part in self.body[-4:]]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("notebooks", Notebooks)
    app.add_transform(Cells)
    app.add_node(HideCodeCellNode, override=True, html=(open_fold, depart_HideCellInput))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
