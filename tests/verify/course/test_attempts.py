"""Which of the files that one student handed in count."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import nbformat
import pytest

from grader.course import assignment, batch
from grader.course.batch import Submission
from grader.course.collecting.answers import Released, filled
from grader.course.collecting.archive import File
from grader.course.collecting.attempts import Attempt, of_student
from grader.course.collecting.moments import Moment
from grader.course.collecting.platforms import HandedIn, Person
from grader.course.orders import Marked
from grader.course.restore import Original
from grader.course.sources import UnreadableFile
from grader.judge.grade import refused
from grader.workbook import topics

pytestmark = pytest.mark.verify

TRANSPOSE = topics.load("transpose")
NAIVE = TRANSPOSE.rung("00_naive").source
MADE = assignment.notebook(TRANSPOSE)
CELLS = [
    Original(about.grade_id, cell.cell_type, cell.source, about.locked, about.solution)
    for cell in MADE.cells
    for about in [cell.metadata.nbgrader]
]
KERNEL = next(cell for cell in CELLS if cell.topic)
RELEASED = Released("transpose", Path("transpose.ipynb"), [(TRANSPOSE, KERNEL)], CELLS)
NOON = datetime(2024, 3, 5, 12, tzinfo=UTC)


def notebook(source: str | None = None) -> bytes:
    """The assignment as it was released, or with a source in it."""
    made = copy.deepcopy(MADE)
    if source is not None:
        made.cells[CELLS.index(KERNEL)].source = f"%%kernel mine --topic transpose\n{source}"
    return str(nbformat.writes(made)).encode()


AS_RELEASED, WORK, HALF = notebook(), notebook("work"), notebook("half of it")
STARTER = TRANSPOSE.starter.read_bytes()


def attempts(*files: tuple[str, bytes], exact: bool = False) -> list[Attempt]:
    """Files of one student, an hour apart where their times are `exact`."""
    items = [
        HandedIn(
            Person("ada"),
            name,
            File(name, NOON, partial(bytes, data)),
            Moment(NOON + timedelta(hours=hour), exact),
        )
        for hour, (name, data) in enumerate(files)
    ]
    return of_student(items, [RELEASED])


def counted(found: list[Attempt]) -> list[str]:
    return [each.item.name for each in found if each.counts]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("work", "none"),
    [
        (("transpose.ipynb", WORK), ("transpose (1).ipynb", AS_RELEASED)),
        (("transpose.ipynb", WORK), ("transpose-1.ipynb", AS_RELEASED)),
        (("transpose (1).ipynb", WORK), ("transpose.ipynb", AS_RELEASED)),
        (("transpose_final.ipynb", WORK), ("transpose.ipynb", AS_RELEASED)),
        (("transpose.ipynb", WORK), ("transpose (1).ipynb", notebook(""))),
        (("transpose.ipynb", WORK), ("transpose.cu", STARTER)),
        (("transpose.cu", b"work"), ("transpose.ipynb", AS_RELEASED)),
        (("mine.cu", b"work"), ("transpose.ipynb", AS_RELEASED)),
        (("mine.cu", b"work"), ("transpose.ipynb", b"")),
        (("transpose.ipynb", b"{"), ("transpose (1).ipynb", AS_RELEASED)),
    ],
)
def test_what_holds_no_work_is_in_no_works_way(
    work: tuple[str, bytes], none: tuple[str, bytes], exact: bool
) -> None:
    """Whatever it is called, and however late it came; and whoever looks at the class is told."""
    for files in ([work, none], [none, work]):
        found = attempts(*files, exact=exact)
        assert counted(found) == [work[0]]
        (left,) = (each for each in found if not each.counts)
        assert (left.item.name, left.place) == (none[0], None)
        assert left.why_not == f"there is no work in it, and {work[0]} was handed in as well"


def test_the_starter_alone_counts() -> None:
    assert counted(attempts(("transpose.ipynb", AS_RELEASED))) == ["transpose.ipynb"]
    assert counted(attempts(("transpose.ipynb", AS_RELEASED), ("notes.txt", b"work"))) == ["transpose.ipynb"]
    again = attempts(("transpose.ipynb", AS_RELEASED), ("transpose (1).ipynb", AS_RELEASED))
    assert len(counted(again)) == 1


def test_where_the_work_may_be_in_either_of_two_files_none_counts() -> None:
    found = attempts(("transpose.ipynb", AS_RELEASED), ("a.cu", b"work"), ("b.cu", b"work"))
    assert counted(found) == []
    assert all(each.why_not for each in found)


def test_a_browsers_number_is_no_order() -> None:
    """It counts downloads: the work may be in the older one."""
    files = ("transpose.ipynb", WORK), ("transpose (1).ipynb", HALF)
    found = attempts(*files)
    assert counted(found) == []
    assert {each.why_not for each in found} == {
        "nothing tells which is the latest: transpose.ipynb, transpose (1).ipynb"
    }
    assert counted(attempts(*files, exact=True)) == ["transpose (1).ipynb"]


@pytest.mark.parametrize("name", ["transpose.ipynb", "transpose.cu"])
def test_an_empty_file_is_left_out_whatever_it_is_called(name: str) -> None:
    (found,) = attempts((name, b" \n"))
    assert found.place is not None
    with pytest.raises(UnreadableFile, match="it is empty"):
        filled(found.place, found.item.file.read())


def test_a_mark_of_nothing_says_what_to_look_at() -> None:
    """That it does not compile, and whose kernel it may be: names are free, so only where it is not right."""
    refuses = 'The compiler refuses it: mine.cu:3: identifier "foo" is undefined'
    says = f"{refuses}\n      foo;\n      ^"
    error, fail, right = (
        Marked(refused(TRANSPOSE, "mine.cu", verdict, says)) for verdict in ("error", "fail", "pass")
    )
    reduce = topics.load("reduce").rung("02_sequential").source

    def found(source: str, mark: Marked) -> list[str]:
        return list(filter(None, batch.doubts(Submission("ada", TRANSPOSE, source), mark)))

    assert found(NAIVE, error) == [refuses]
    assert found(reduce, fail) == ["it launches reduce, as another topic does"]
    for source, mark in ((NAIVE, fail), (reduce, right), ("int a;", fail)):
        assert found(source, mark) == []
