"""How far a learner has come on each ladder."""

from datetime import UTC, datetime, timedelta

from grader.history.outcomes import Graded
from grader.history.way import Climbed, way

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
LADDERS = {"copy": ("00_naive", "01_wide"), "sum": ("00_naive", "01_tree", "02_shuffles")}


def test_the_highest_rung_counts_and_each_kernel_once() -> None:
    grades = [
        Graded("sum", NOON + timedelta(minutes=number), digest, verdict, rung)  # type: ignore[arg-type]
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
    grades = [Graded("sum", NOON, "a", "pass", "07_gone"), Graded("gone", NOON, "b", "pass", "00_naive")]
    assert [(climbed.topic, climbed.rung, climbed.graded) for climbed in way(grades, LADDERS)] == [
        ("copy", None, 0),
        ("sum", None, 1),
    ]
