"""The notebooks: their table of contents, the map that says when to open which, cells of CUDA C++ coloured as such, and
outputs that need a running kernel left out (`%%kernel` cells are not Python, and a slider on a page without a kernel
would do nothing: its picture, which follows it, says the same)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput, visit_HideCellInput
from sphinx.application import Sphinx
from sphinx.directives.other import TocTree
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger
from sphinx.writers.html5 import HTML5Translator

from grader.workbook import topics
from grader.workbook.topics import Topic

LOGGER = getLogger(__name__)
ROOT = Path(__file__).resolve().parents[2]
KERNEL_CELL = "%%kernel"
TEXT_COLOUR = re.compile(r"(?<![-\w])color:\s*#([0-9a-fA-F]{6})")
WIDGET = "application/vnd.jupyter.widget-view+json"


AFTER = re.compile(r"^after: ([\w]+)/([\w]+)$", re.MULTILINE)


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
        described = "\n\n".join(f"[](/notebooks/{name}.md)\n: {_first_paragraph(name)}" for name in names)
        return [*super().run(), *self.parse_text_to_nodes(described)]


class NotebookMap(SphinxDirective):
    """`{notebook-map}`: a table of the notebooks in the order of the ladders, each with the rung to read before it.

    The rung stands in the notebook's head, `after: TOPIC/RUNG`; without one it is the first of the notebook's own
    topic, and for a notebook that belongs to no topic there is nothing to read before.
    """

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        found = topics.discover(ROOT)
        order = [(topic, rung.id) for topic in found for rung in found[topic].rungs]
        rows = []
        for path in sorted((ROOT / "notebooks").glob("*.md")):
            after = _after(path, found)
            if after is not None and after not in order:
                LOGGER.warning("%s comes after %s/%s, which is no rung", path.name, *after)
                continue
            read = "nothing" if after is None else f"`{after[1]}` of [](/lessons/{after[0]}/lesson.md)"
            # What belongs to a topic walks up its whole ladder, and comes after those on one of its rungs.
            place = -1 if after is None else order.index(after), path.stem in found
            rows.append((place, f"| {read} | [](/notebooks/{path.stem}.md) |"))
        table = ["| Read first | Then open |", "|---|---|", *(row for _, row in sorted(rows))]
        return self.parse_text_to_nodes("\n".join(table))


def _after(path: Path, found: Mapping[str, Topic]) -> tuple[str, str] | None:
    """The topic and the rung that a notebook follows."""
    head = path.read_text(encoding="utf-8").partition("\n---\n")[0]
    if said := AFTER.search(head):
        return said[1], said[2]
    return (path.stem, found[path.stem].rungs[0].id) if path.stem in found else None


def _first_paragraph(name: str) -> str:
    """What a notebook is about: the paragraph under its title, in one line."""
    text = (ROOT / "notebooks" / f"{name}.md").read_text(encoding="utf-8").partition("\n# ")[2]
    return text.split("\n\n")[1].replace("\n", " ")


def _is_there(name: str) -> bool:
    return (ROOT / "notebooks" / f"{name}.md").is_file()


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
    app.add_directive("notebook-map", NotebookMap)
    app.add_transform(Cells)
    app.add_node(HideCodeCellNode, override=True, html=(open_fold, depart_HideCellInput))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
