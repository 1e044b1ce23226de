"""What learners do to a notebook besides writing into its answer's cell."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import nbformat

from grader.course.assignment import NAME, kernel_cell
from grader.lab.cells import MAGIC
from grader.workbook.topic import Topic

Notebook = dict[str, Any]
Edit = Callable[[Notebook, Topic, random.Random], None]

GIANT = 12_000_000
"""Characters of an output."""


def with_source(released: Notebook, topic: Topic, source: str) -> Notebook:
    """The released notebook with a source in its answer's cell."""
    made = copy.deepcopy(released)
    answer(made, topic)["source"] = f"{MAGIC} {NAME} --topic {topic.name}\n{source}"
    return made


def answer(notebook: Notebook, topic: Topic) -> dict[str, Any]:
    """The cell that the kernel is written in."""
    return next(cell for cell in notebook["cells"] if grade_id(cell) == kernel_cell(topic.name))


def grade_id(cell: dict[str, Any]) -> str:
    """nbgrader's name of a cell, "" of a learner's own."""
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def written(notebook: Notebook) -> bytes:
    """A file as Jupyter writes it."""
    return json.dumps(notebook, ensure_ascii=False, indent=1).encode() + b"\n"


def own(source: str) -> dict[str, Any]:
    """A code cell of the learner's own."""
    return {
        "cell_type": "code", "id": "own", "metadata": {}, "source": source, "outputs": [], "execution_count": None,
    }  # fmt: skip


# ---- edits that change no mark -----------------------------------------------------------------------------


def forges_points(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """Graded cells hold numbers, outputs and points of the learner's; one more is added."""
    for cell in _graded(notebook):
        cell["source"] = "1000.0"
        cell["metadata"]["nbgrader"]["points"] = 1000
        cell["outputs"] = [
            {
                "output_type": "execute_result",
                "data": {"text/plain": "1000.0"},
                "metadata": {},
                "execution_count": 1,
            }
        ]
        cell["execution_count"] = 1
    forged = own("100.0")
    forged["metadata"] = {"nbgrader": {"grade": True, "grade_id": "bonus", "points": 100, "locked": True}}
    notebook["cells"].append(forged)


def loses_metadata(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """As some editors save it: no cell has any metadata or id, and the notebook none, either."""
    notebook["metadata"] = {}
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)
    notebook["nbformat_minor"] = 4


def changes_metadata(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """Locks, kinds and schemas are other ones, and the cells stand in another order."""
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader")
        if about and about["locked"]:
            about |= {"locked": False, "solution": True, "grade": draw.random() < 0.5, "schema_version": 1}
    _graded(notebook)[-1]["metadata"]["nbgrader"] = {"grade_id": 7}
    draw.shuffle(notebook["cells"])


def copies_the_answer(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """The answer's cell stands there twice, once as it was released, before or behind the work."""
    place = notebook["cells"].index(answer(notebook, topic))
    starter = copy.deepcopy(notebook["cells"][place])
    text = topic.starter.read_text(encoding="utf-8").rstrip("\n")
    starter["source"] = f"{MAGIC} {NAME} --topic {topic.name}\n{text}"
    notebook["cells"].insert(place + draw.randrange(2), starter)


def writes_it_anew(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """The answer's cell was copied and worked on: the last counts."""
    place = notebook["cells"].index(answer(notebook, topic))
    first = copy.deepcopy(notebook["cells"][place])
    first["source"] = f"{MAGIC} {NAME} --topic {topic.name}\nnothing yet {draw.random()}"
    notebook["cells"].insert(place, first)


def copies_graded_cells(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """Every graded cell stands there twice."""
    notebook["cells"] += copy.deepcopy(_graded(notebook))


def deletes_graded_cells(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """Some of them, and the set-up."""
    gone = {"setup", *(grade_id(cell) for cell in _graded(notebook)[draw.randrange(2) :])}
    notebook["cells"] = [cell for cell in notebook["cells"] if grade_id(cell) not in gone]


def deletes_prose(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """All that is not code."""
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def keeps_the_answer_alone(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """Without its name, among cells of the learner's own."""
    cell = own(answer(notebook, topic)["source"])
    notebook["cells"] = [own("print('first')"), cell, own("print('last')")]


def prints_giants(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """One cell has printed millions of characters."""
    text = draw.choice(("x" * 79 + "\n", "\x1b[31mred\x1b[0m\n", "0\n"))
    output = {"output_type": "stream", "name": "stdout", "text": text * (GIANT // len(text))}
    answer(notebook, topic)["outputs"] = [output]


TAMPERED: tuple[Edit, ...] = (forges_points, loses_metadata, changes_metadata)
DUPLICATED: tuple[Edit, ...] = (copies_the_answer, writes_it_anew, copies_graded_cells)
DELETED: tuple[Edit, ...] = (deletes_graded_cells, deletes_prose, keeps_the_answer_alone)


def without_answer(notebook: Notebook, topic: Topic) -> None:
    """The answer's cell is gone: nothing tells what is to be marked."""
    notebook["cells"] = [cell for cell in notebook["cells"] if grade_id(cell) != kernel_cell(topic.name)]


def _graded(notebook: Notebook) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade")]


# ---- where the work stands ---------------------------------------------------------------------------------


def works_below(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """In a new cell below the answer's, which is as released, holds a first try, or nothing any more."""
    cell = answer(notebook, topic)
    notebook["cells"].insert(notebook["cells"].index(cell) + 1, own(cell["source"]))
    starter = topic.starter.read_text(encoding="utf-8").rstrip("\n")
    cell["source"] = f"{MAGIC} {NAME} --topic {topic.name}\n" + draw.choice((starter, "first try", ""))


def works_at_the_end(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """Below the graded cells; the answer's is as released."""
    works_below(notebook, topic, draw)
    place = notebook["cells"].index(answer(notebook, topic))
    starter = topic.starter.read_text(encoding="utf-8").rstrip("\n")
    notebook["cells"][place]["source"] = f"{MAGIC} {NAME} --topic {topic.name}\n{starter}"
    notebook["cells"].append(notebook["cells"].pop(place + 1))


def pastes_from_elsewhere(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """With a byte-order mark, and the line ends of another system."""
    head, _, body = answer(notebook, topic)["source"].partition("\n")
    end = draw.choice(("\r\n", "\r"))
    answer(notebook, topic)["source"] = f"{head}\n\N{ZERO WIDTH NO-BREAK SPACE}{body.replace(chr(10), end)}"


def tries_twice(notebook: Notebook, topic: Topic, draw: random.Random) -> None:
    """And nothing tells which counts: another try stands below the graded cells."""
    other = answer(notebook, topic)["source"] + f"\n// or so {draw.random()}"
    notebook["cells"].append(own(other))


SCATTERED = (works_below, works_at_the_end, pastes_from_elsewhere)


# ---- formats and encodings ---------------------------------------------------------------------------------


def of_version_3(notebook: Notebook) -> bytes:
    """As IPython 1 to 2 wrote notebooks."""
    found = nbformat.from_dict(copy.deepcopy(notebook))
    return str(nbformat.writes(found, version=3)).encode() + b"\n"


def of_version_4_0(notebook: Notebook) -> bytes:
    """Without cells' ids."""
    made = copy.deepcopy(notebook) | {"nbformat_minor": 0}
    for cell in made["cells"]:
        cell.pop("id", None)
    return written(made)


OLD = (of_version_3, of_version_4_0)
