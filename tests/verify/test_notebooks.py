"""Every notebook runs to its end on the emulator, unsolved; its predictions know right from wrong, its tasks too.

Each is executed once, with cells put between its own: a prediction is made again with the right answer and with
wrong ones, a task is checked again with the solution in the reader's place, and then the cell runs as it was.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbclient
import nbformat
import pytest
from tiers import sample

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
NAMES = sorted(
    path.stem for path in NOTEBOOKS.glob("*.md") if path.read_text("utf-8").startswith("---\njupytext:")
)

pytestmark = [pytest.mark.verify, pytest.mark.timeout(300)]


@dataclass(frozen=True)
class Asked:
    """One call of `lab.predict` or `lab.task` in a cell's source."""

    kind: str
    id: str
    written: ast.expr  # what the reader changes: the value, or the counts of a kernel
    solution: ast.expr | None  # of a task

    def answered(self, source: str, text: str) -> str:
        """The cell with `text` in place of what the reader writes."""
        lines = source.encode().splitlines(keepends=True)
        starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
        first = starts[self.written.lineno - 1] + self.written.col_offset
        last = starts[(self.written.end_lineno or 0) - 1] + (self.written.end_col_offset or 0)
        return (source.encode()[:first] + text.encode() + source.encode()[last:]).decode()


def asked(source: str) -> list[Asked]:
    """What a cell asks of its reader."""
    if "lab.predict(" not in source and "lab.task(" not in source:
        return []
    calls = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("lab.predict", "lab.task")
    ]
    found = []
    for call in calls:
        kind = ast.unparse(call.func).removeprefix("lab.")
        name = ast.literal_eval(call.args[0])
        found.append(Asked(kind, name, call.args[1], call.args[3] if kind == "task" else None))
    return found


def state(name: str, *expected: str) -> nbformat.NotebookNode:
    """A cell that fails where an item is not in the state expected."""
    return nbformat.v4.new_code_cell(
        f"_item = lab.item({name!r})\nassert _item.state in {expected!r}, (_item.id, _item.state, _item.says)"
    )


def examined(notebook: nbformat.NotebookNode) -> tuple[nbformat.NotebookNode, list[Asked]]:
    """The notebook with cells that answer it, and what it asks."""
    cells, found = [], []
    for cell in notebook.cells:
        cells.append(cell)
        for item in asked(cell.source) if cell.cell_type == "code" else []:
            found.append(item)
            right = f"lab.reveal({item.id!r})" if item.kind == "predict" else ast.unparse(item.solution)
            unsolved = ("open",) if item.kind == "predict" else ("open", "wrong")
            cells += [state(item.id, *unsolved), _again(cell, item, right), state(item.id, "right")]
            if item.kind == "predict":
                for wrong in ("'nothing of the kind'", f"_wrong({item.id!r})"):
                    cells += [_again(cell, item, wrong), state(item.id, "wrong")]
            cells.append(_again(cell, item, ast.unparse(item.written)))
    helper = "def _wrong(name):\n    answer = lab.reveal(name)\n"
    helper += "    return 'another' if isinstance(answer, str) else 2 * answer + 1"
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(f"import grader.lab as lab\n{helper}"), *cells]
    ), found


def _again(cell: nbformat.NotebookNode, item: Asked, text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(item.answered(cell.source, text))


@pytest.mark.parametrize("name", sample(NAMES, ["transpose"], "book"))
def test_a_notebook_runs_and_knows_right_from_wrong(name: str) -> None:
    notebook, found = examined(jupytext.read(NOTEBOOKS / f"{name}.md"))
    assert sum(item.kind == "predict" for item in found) >= 3
    assert any(item.kind == "task" for item in found)
    assert len({item.id for item in found}) == len(found)
    score = nbformat.v4.new_code_cell(
        "import json\nprint(json.dumps([item.state for item in lab.score().items]))"
    )
    notebook.cells.append(score)

    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOKS)}}
    )
    client.execute()

    [output] = notebook.cells[-1].outputs
    assert "right" not in json.loads(output.text)
    assert len(json.loads(output.text)) == len(found)


def test_every_topic_has_a_notebook() -> None:
    topics = {path.parent.name for path in (NOTEBOOKS.parent / "lessons").glob("*/topic.toml")}
    assert topics <= set(NAMES)
