"""Draws the layers of `grader`, of its judge and of its emulator: `python docs/packages.py docs/packages.svg`.

Layers are those of the contracts in pyproject.toml, the highest on top. Beside each layer is what its modules import
from lower ones, as the import graph has it.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import grimp

from grader.report.pictures.svg import Sheet, heading, text_width, wrapped

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
MARGIN, WORDS = 16.0, 514.0  # around all, and the width of what stands beside the boxes
TOP, TITLE, BELOW = 64.0, 24.0, 20.0  # above all parts, above the rows of one, and below them
BOX, GAP, LINE, SMALL = 26.0, 8.0, 16.0, 12.0
BOTTOM = "results", "errors"
"""What every package may use, and most do: not worth a word in each row."""


class Layers:
    """The layers below one package."""

    def __init__(self, graph: grimp.ImportGraph, container: str, layers: Sequence[str]) -> None:
        self.container = container
        self.layers = [[name.strip(" ()") for name in layer.split("|")] for layer in layers]
        self._graph = graph
        self._names = [name for layer in self.layers for name in layer]

    def imports(self, layer: Sequence[str]) -> list[str]:
        """What a layer imports from lower ones, from the highest to the lowest."""
        used = {
            self._within(module) for name in layer for module in self._imported(f"{self.container}.{name}")
        }
        return [name for name in self._names if name in used and name not in (*layer, *BOTTOM)]

    def _imported(self, package: str) -> set[str]:
        modules = {package} | self._graph.find_descendants(package)
        return {
            found for module in modules for found in self._graph.find_modules_directly_imported_by(module)
        }

    def _within(self, module: str) -> str:
        """The part of the container that a module is or lies in."""
        return module.removeprefix(f"{self.container}.").split(".")[0]


def rows(layers: Layers) -> list[tuple[list[str], list[str]]]:
    """Of each layer its packages, and what they import, in lines."""
    return [(layer, wrapped(", ".join(layers.imports(layer)), WORDS, SMALL)) for layer in layers.layers]


def height(words: Sequence[str]) -> float:
    """Of a row with so many lines."""
    return max(BOX, LINE * len(words)) + GAP


def draw(parts: Sequence[Layers]) -> str:
    """The picture: one part below the other."""
    tall = TOP + sum(TITLE + sum(height(words) for _, words in rows(part)) + BELOW for part in parts)
    beside = max(MARGIN + _widths(layer) + GAP for part in parts for layer in part.layers)
    sheet = Sheet(
        beside + WORDS + MARGIN,
        tall,
        "The packages of grader",
        "Layers of packages; a higher one may import lower ones.",
    )
    heading(
        sheet,
        "Packages, the higher on top",
        f"On the right: what a layer imports from lower ones, but for {' and '.join(BOTTOM)}",
    )
    top = TOP
    for part in parts:
        sheet.text(MARGIN, top + 14, part.container.replace(".", "/"), "blue", bold=True)
        top += TITLE
        for layer, words in rows(part):
            _row(sheet, top, layer, words, beside)
            top += height(words)
        top += BELOW
    return sheet.render()


def _width(name: str) -> float:
    """Of a box."""
    return text_width(name) + 16


def _widths(layer: Sequence[str]) -> float:
    """Of a row of boxes, with the gap behind each."""
    return sum(_width(name) + GAP for name in layer)


def _row(sheet: Sheet, top: float, layer: Sequence[str], words: Sequence[str], beside: float) -> None:
    """A layer as a row of boxes, and `beside` it what it imports."""
    left = MARGIN
    for name in layer:
        width = _width(name)
        sheet.rect(left, top, width, BOX, "empty", outline="blue", radius=4)
        sheet.text(left + width / 2, top + BOX / 2 + 4, name, anchor="middle")
        left += width + GAP
    for number, line in enumerate(words):
        sheet.text(beside, top + BOX / 2 + 4 + LINE * number, line, "dim", size=SMALL)


def main(picture: Path) -> None:
    contracts = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    graph = grimp.build_graph("grader", cache_dir=None)
    parts = [
        Layers(graph, container, contract["layers"])
        for contract in contracts
        if contract["type"] == "layers"
        for container in contract["containers"]
    ]
    picture.write_text(draw(parts), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
