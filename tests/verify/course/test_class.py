"""A small class from the downloads to the platform's table: every mark is as it was known beforehand, whoever dies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from classroom import courses, kills, proof
from classroom.handing_in import KINDS

pytestmark = [pytest.mark.verify, pytest.mark.timeout(900)]

DEAR = ("hanging", "compiler bomb", "prints", "giant outputs")
"""Kinds that take long, and are proved by benchmarks/course.py alone."""

FEW = ("half-right", "racing", "unreadable", "late", "resubmitted")
"""Of each way in which a score comes about, and a file is found."""

ALL = [kind for kind in KINDS if kind not in DEAR]


@pytest.mark.parametrize(
    ("kinds", "names"),
    [
        pytest.param(FEW, ["transpose"], id="few"),
        pytest.param(ALL, ["transpose", "streams"], id="all", marks=pytest.mark.soak(area="course")),
    ],
)
def test_every_mark_is_as_it_was_known_beforehand(
    tmp_path: Path, kinds: Sequence[str], names: Sequence[str]
) -> None:
    made = courses.made(tmp_path, len(kinds) + 1, 2, names, kinds=kinds)
    assert {item.kind for item in made.handed_in} == set(kinds)
    assert proof.proved(made, 2).off == []


@pytest.mark.soak(area="course")
def test_a_class_that_is_killed_has_the_same_marks(tmp_path: Path) -> None:
    assert kills.proved(tmp_path, 1, len(kills.ROLES), students=4) == []
