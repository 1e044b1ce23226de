"""How far a learner has come on each ladder, and what is next."""

from datetime import UTC, datetime, timedelta

import pytest

from grader.history.outcomes import Graded, Sitting
from grader.history.way import Climbed, following, latest, way

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
LADDERS = {"copy": ("00_naive", "01_wide"), "sum": ("00_naive", "01_tree", "02_shuffles")}


def test_the_highest_rung_counts_and_each_kernel_once() -> None:
    grades = [
        Graded("sum", NOON + timedelta(minutes=number), "mine.cu", digest, verdict, rung)  # type: ignore[arg-type]
        for number, (digest, verdict, rung) in enumerate(
            [
                ("a", "fail", None),
                ("b", "pass", "01_tree"),
                ("b", "pass", "01_tree"),
                ("c", "pass", "00_naive"),
            ]
        )
    ]
    copy, sums = way(grades, LADDERS)
    assert copy == Climbed("copy", LADDERS["copy"], None, 0)
    assert sums == Climbed("sum", LADDERS["sum"], "01_tree", 3)
    assert (copy.reached, sums.reached) == (0, 2)


def test_rungs_and_ladders_that_are_gone_count_for_nothing() -> None:
    grades = [
        Graded("sum", NOON, "mine.cu", "a", "pass", "07_gone"),
        Graded("gone", NOON, "mine.cu", "b", "pass", "00_naive"),
    ]
    assert [(climbed.topic, climbed.rung, climbed.graded) for climbed in way(grades, LADDERS)] == [
        ("copy", None, 0),
        ("sum", None, 1),
    ]


def graded(topic: str, rung: str | None, file: str = "mine.cu") -> Graded:
    return Graded(topic, NOON, file, f"{topic} {rung}", "fail" if rung is None else "pass", rung)


def test_what_was_graded_or_played_last_comes_first() -> None:
    grades = [graded("sum", "00_naive"), graded("copy", "00_naive")]
    played = Sitting("a", "interview", "sum", NOON + timedelta(hours=1), 60, 0.5, None)
    climbed = way(grades, LADDERS)
    assert latest([], [], LADDERS) is None
    assert latest([graded("sum", None), graded("tree", None)], [], LADDERS) == "sum"
    assert following(grades, climbed, latest(grades[:1], [], LADDERS)).what == "sum: rung 01_tree"
    assert following(grades, climbed, latest(grades[1:], [played], LADDERS)).what == "sum: rung 01_tree"
    first = following([], way([], LADDERS), "sum")
    assert first.what == "sum: your first kernel"
    # What is to be done now comes before what there is for those to whom it is too much.
    assert first.why.startswith("Write what comes to mind first: ")
    assert "If that is too much at once, `ladder learn`" in first.why


@pytest.mark.parametrize(
    ("grades", "what", "command"),
    [
        ([], "copy: your first kernel", "ladder new copy"),
        ([graded("copy", None, "my file.cu")], "copy: mend my file.cu", "ladder grade copy 'my file.cu'"),
        ([graded("copy", "00_naive")], "copy: rung 01_wide", "ladder hint copy mine.cu"),
        ([graded("copy", "01_wide")], "sum: its first rung", "ladder new sum"),
        ([graded("copy", "01_wide"), graded("sum", None)], "sum: mend mine.cu", "ladder grade sum mine.cu"),
        ([graded("gone", None)], "copy: your first kernel", "ladder new copy"),
        ([graded("copy", None, "-x.cu")], "copy: mend -x.cu", "ladder grade copy ./-x.cu"),
        (
            [graded("copy", "01_wide"), graded("sum", "02_shuffles")],
            "sum: rung 03_float4",
            "ladder hint sum mine.cu",
        ),
        ([graded("copy", "01_wide"), graded("sum", "03_float4")], "An interview", "ladder loop"),
    ],
)
def test_what_is_next(grades: list[Graded], what: str, command: str) -> None:
    ladders = {**LADDERS, "sum": (*LADDERS["sum"], "03_float4")}
    found = following(grades, way(grades, ladders))
    assert (found.what, found.command) == (what, command)


def test_a_starter_that_was_written_is_gone_on_with() -> None:
    begun = {"copy": "mine.cu", "index": "my file.cu"}
    found = following([], way([], LADDERS), begun=begun)
    assert (found.what, found.command) == ("copy: your first kernel", "ladder grade copy mine.cu")
    grades = [graded("wide", "solution")]
    climbed = way(grades, {"index": ("solution",), "wide": ("solution",), **LADDERS})
    found = following(grades, climbed, None, {"index": "00_naive", "wide": "00_naive"}, begun)
    assert (found.what, found.command) == ("index: a small exercise", "ladder grade index 'my file.cu'")


@pytest.mark.parametrize(
    ("reached", "what", "also"),
    [
        ("00_naive", "copy: rung 01_tile", []),
        # Rungs of the first time come before the next ladder, which stands beside them from the second reached on.
        ("01_tile", "copy: rung 02_padded", ["sum: its first rung"]),
        ("02_padded", "copy: rung 03_swizzled", ["sum: its first rung"]),
        ("03_swizzled", "sum: its first rung", ["copy: rung 04_float4"]),
        ("04_float4", "sum: its first rung", []),
    ],
)
def test_the_next_ladder_and_the_next_rung_of_the_one_climbed_last_stand_beside_each_other(
    reached: str, what: str, also: list[str]
) -> None:
    ladders = {
        "copy": ("00_naive", "01_tile", "02_padded", "03_swizzled", "04_float4"),
        "sum": LADDERS["sum"],
    }
    grades = [graded("copy", reached)]
    found = following(grades, way(grades, ladders), "copy")
    assert (found.what, [each.what for each in found.also]) == (what, also)
    assert not following([], way([], ladders), "copy").also


@pytest.mark.parametrize(
    ("grades", "also"),
    [
        ([], ["ladder new index"]),  # of those that prepare the ladder the first
        ([graded("copy", None)], ["ladder new index"]),  # and beside mending that kernel
        ([graded("copy", None), graded("index", "solution")], ["ladder new wide"]),
        (
            [graded("copy", "00_naive")],
            ["ladder new wide"],
        ),  # what prepares the next rung; the other is behind
        ([graded("copy", "00_naive"), graded("wide", "solution")], []),
        ([graded("copy", "01_wide")], ["ladder new tree"]),
        ([graded("copy", "01_wide"), graded("sum", None)], ["ladder new tree"]),
        ([graded("copy", "01_wide"), graded("sum", "00_naive")], []),  # of a rung that is reached
        ([graded("copy", "01_wide"), graded("tree", None)], ["ladder grade tree mine.cu"]),
        ([graded("copy", "01_wide"), graded("tree", "right")], ["ladder hint tree mine.cu"]),
        ([graded("copy", "01_wide"), graded("tree", "solution")], []),
    ],
)
def test_beside_a_first_kernel_and_a_rung_stands_the_small_exercise_that_prepares_them(
    grades: list[Graded], also: list[str]
) -> None:
    small = {"index": ("solution",), "wide": ("solution",), "tree": ("right", "solution")}
    order = ("index", "wide", "copy", "tree", "sum")
    climbed = way(grades, {name: {**small, **LADDERS}[name] for name in order})
    prepared = {"index": "00_naive", "wide": "01_wide", "tree": "00_naive"}
    found = following(grades, climbed, latest(grades, [], LADDERS), prepared)
    assert [each.command for each in found.also] == also


@pytest.mark.parametrize(
    ("grades", "what", "also"),
    [
        # A second file that is wrong stands beside what the right one leads to.
        (
            [graded("sum", "00_naive"), graded("sum", None, "x.cu")],
            "ladder hint sum mine.cu",
            ["ladder grade sum x.cu"],
        ),
        # The best file leads on, not the latest that is right. A wrong one beside it may be an experiment: all that
        # leads on comes before it.
        (
            [graded("sum", "01_tree", "tree.cu"), graded("sum", "00_naive"), graded("sum", None, "x.cu")],
            "ladder hint sum tree.cu",
            ["ladder new copy", "ladder grade sum x.cu"],
        ),
        # Beside one that has reached the top, it is an experiment for sure.
        (
            [graded("copy", "01_wide"), graded("copy", None, "x.cu")],
            "ladder new sum",
            [],
        ),
        # What was right once, and is not now, leads nowhere: it is mended.
        ([graded("sum", "00_naive"), graded("sum", None)], "ladder grade sum mine.cu", []),
        (
            [graded("sum", "00_naive"), graded("sum", None), graded("copy", "01_wide")],
            "ladder grade sum mine.cu",
            [],
        ),
        # A wrong file of another ladder is mended first.
        ([graded("sum", "00_naive"), graded("copy", None, "x.cu")], "ladder grade copy x.cu", []),
    ],
)
def test_a_file_that_is_right_leads_on_and_a_wrong_one_beside_it_is_named(
    grades: list[Graded], what: str, also: list[str]
) -> None:
    found = following(grades, way(grades, LADDERS), latest(grades, [], LADDERS))
    assert (found.command, [each.command for each in found.also]) == (what, also)


@pytest.mark.parametrize(
    ("grades", "what", "command"),
    [
        ([], "copy: your first kernel", "ladder new copy"),
        ([graded("index", None)], "index: mend mine.cu", "ladder grade index mine.cu"),
        ([graded("index", "solution")], "wide: a small exercise", "ladder new wide"),
        (
            [graded("index", "solution"), graded("wide", "right")],
            "wide: what its task asks for",
            "ladder hint wide mine.cu",
        ),
        (
            [graded("index", "solution"), graded("wide", "solution")],
            "copy: its first rung",
            "ladder new copy",
        ),
        (
            [graded("copy", "00_naive"), graded("index", None)],
            "copy: rung 01_wide",
            "ladder hint copy mine.cu",
        ),
    ],
)
def test_where_no_ladder_was_begun_exercises_are_gone_on_with(
    grades: list[Graded], what: str, command: str
) -> None:
    small = {"index": ("solution",), "wide": ("right", "solution")}
    climbed = way(grades, {**small, **LADDERS})
    found = following(grades, climbed, latest(grades, [], LADDERS), dict.fromkeys(small, "00_naive"))
    assert (found.what, found.command) == (what, command)
    assert found.topic == ("copy" if "copy" in what else None)  # exercises have no lesson
    assert ("ladder learn" in found.why) == (not grades or command == "ladder new wide")


def test_behind_a_ladder_comes_the_one_after_it_and_then_what_was_passed_by() -> None:
    ladders = {"first": ("00_naive",), **LADDERS}
    grades = [graded("copy", "01_wide")]
    assert following(grades, way(grades, ladders), "copy").what == "sum: its first rung"
    grades.append(graded("sum", "02_shuffles"))
    assert following(grades, way(grades, ladders), "sum").what == "first: its first rung"


def test_a_ladder_that_is_climbed_whole_hides_no_rung_of_the_one_climbed_before() -> None:
    ladders = {
        "copy": LADDERS["copy"],
        "turn": ("00_naive", "01_tile", "02_padded", "03_swizzled", "04_float4"),
        **LADDERS,
    }
    grades = [graded("turn", "03_swizzled"), graded("copy", "01_wide")]
    found = following(grades, way(grades, ladders), "copy")
    assert found.what == "sum: its first rung"
    assert [each.what for each in found.also] == ["turn: rung 04_float4"]


def test_who_goes_back_to_an_earlier_ladder_finds_the_way_on_beside_it() -> None:
    names = ("a", "b", "c", "d")
    ladders = dict.fromkeys(names, LADDERS["sum"])
    grades = [
        graded("a", "01_tree"),
        graded("b", "01_tree"),
        graded("c", "02_shuffles"),
        graded("a", "01_tree"),
    ]
    found = following(grades, way(grades, ladders), "a")
    assert found.what == "a: rung 02_shuffles"
    assert [each.what for each in found.also] == ["d: its first rung"]
