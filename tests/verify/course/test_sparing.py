"""What nbgrader makes anew for each submission is made once for a class, and is its own again afterwards."""

from __future__ import annotations

from pathlib import Path

import judged_course
import pytest
from judged_course import TOTALS, copied, hand_in
from nbgrader import api
from nbgrader.nbgraderformat import MetadataValidator, ValidationError, common

from grader.course import preprocessors
from grader.course.batch import open_course
from grader.course.gradebook.autograde import autograde
from grader.course.gradebook.sparing import spared

pytestmark = pytest.mark.verify


def test_a_class_has_one_engine_and_its_marks(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged_course.with_judge(monkeypatch)
    root = copied(judged_course.made(tmp_path_factory.mktemp("course") / "cuda"), tmp_path)
    rungs = ["none", "00_naive", "02_shared_tile", "05_float4_tile"]
    for student, rung in enumerate(rungs):
        hand_in(root, f"s{student}", rung)
    made = []
    create = api.create_engine
    monkeypatch.setattr(
        api, "create_engine", lambda *given, **how: made.append(given) or create(*given, **how)
    )
    outcomes = autograde(*open_course(root), "transpose")
    assert [item.standing.score for item in outcomes] == [TOTALS[rung] for rung in rungs]
    before_and_after = 5  # dates are told, the class is looked at, settled, and looked at again
    assert len(made) <= 1 + before_and_after


def test_nbgrader_is_as_it_was_afterwards() -> None:
    ours = [(api, "create_engine"), (api.Base.metadata, "create_all"), (common, "jsonschema")]
    theirs = [(preprocessors, "released")]
    before = [getattr(owner, name) for owner, name in (*ours, *theirs)]
    with spared():
        within = [getattr(owner, name) for owner, name in (*ours, *theirs)]
    assert all(one is not other for one, other in zip(before, within, strict=True))
    assert [getattr(owner, name) for owner, name in (*ours, *theirs)] == before


def test_metadata_are_validated_as_before() -> None:
    cell = preprocessors.nbformat.v4.new_code_cell(
        metadata={"nbgrader": {"schema_version": 3, "grade": "yes"}}
    )
    with spared(), pytest.raises(ValidationError):
        MetadataValidator().validate_cell(cell)
