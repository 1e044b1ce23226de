"""Bug hunts: what their files say, how the proof tells a drill that is not as it says, and how one is played."""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_candidate import Candidate, sit
from tiers import sample

from grader.errors import WarpladderError
from grader.interview import card, checks
from grader.interview.drills import estimate, review
from grader.interview.drills.drilling import Drilling, begin
from grader.interview.drills.review import Change, Review
from grader.interview.driving import BrokenOff
from grader.interview.interviewer import Interviewer
from grader.interview.probes.posing import pose
from grader.interview.prompts import Flow
from grader.interview.reports import interviews
from grader.interview.session import Code, Probed, Session, load
from grader.judge.clean import Clean
from grader.judge.runners.pool import Progress, silent
from grader.report.terminal import terminal
from grader.results import FindingResult, Grade, OtherAccess
from grader.workbook import topics

DRILLS: dict[str, Review] = review.FORMAT.discover()
ESTIMATE = estimate.FORMAT.discover()["bytes-of-a-kv-cache"]
TOPICS = topics.discover()
QUICK = ("taking-turns",)
"""Proved in `make test`: a kernel and a schedule, with a few small cases until the fault shows."""
HUNT = "two-a-thread"

TOML = """
title = "A hunt"
level = "junior"
as_of = 2026-11-01
minutes = 3
topics = []
builds_on = []
text = "It counts."

[[step]]
weight = 60
name = "line"
kind = "line"
text = "Which line?"
explain = "That one."

[fault]
judged_by = "program"
kind = "leak"
reason = "never freed"

[[run]]
arguments = ["2"]
prints = "2"

[mend]
weight = 40
[[mend.change]]
old = "b"
new = "c"

[[source]]
title = "Somewhere"
url = "https://example.org"
"""
SOURCE = "int a;\nint b;  //!\nint d;  //~\n"


def grade(verdict: str, reason: str | None = None, findings: list[FindingResult] | None = None) -> Grade:
    return Grade("t", "f", verdict, reason, None, 0, 0, [], findings or [], [], [])  # type: ignore[arg-type]


def written(folder: Path, toml: str = TOML, source: str = SOURCE) -> Path:
    (folder / "hunt.cu").write_text(source)
    path = folder / "hunt.toml"
    path.write_text(toml)
    return path


# ---- the drills there are ------------------------------------------------------------------------------------


def test_there_are_at_least_forty_with_schedules_and_programs_among_them() -> None:
    assert len(DRILLS) >= 40
    kinds = [
        ("schedule" if drill.source.suffix == ".py" else drill.fault.judged_by) for drill in DRILLS.values()
    ]
    assert kinds.count("schedule") >= 6
    assert kinds.count("program") + kinds.count("saxpy") >= 8


@pytest.mark.parametrize("drill", DRILLS.values(), ids=list(DRILLS))
def test_a_drill_can_be_answered_and_its_source_fits_on_two_screens(drill: Review) -> None:
    assert list(checks.check_drill(drill, TOPICS, Clean())) == []
    assert 15 <= len(drill.shown.splitlines()) <= 60
    assert drill.cured != drill.shown
    assert not re.search(r"//[!~]|#[!~]|# ~", drill.shown + drill.cured)
    assert max(map(len, drill.shown.splitlines())) <= 110


@pytest.mark.parametrize("name", sample(DRILLS, QUICK, "interview"))
def test_the_judge_refuses_the_fault_for_its_reason_and_passes_the_cure(name: str) -> None:
    assert [f"{problem}: {problem.remedy}" for problem in review.prove(DRILLS[name])] == []


# ---- files ---------------------------------------------------------------------------------------------------


def test_marks_are_not_shown_and_the_step_has_the_source(tmp_path: Path) -> None:
    drill = review.read_review(written(tmp_path))
    assert (drill.lines, drill.effects) == ((2,), (3,))
    assert drill.shown == "int a;\nint b;\nint d;\n"
    assert drill.cured == "int a;\nint c;\nint d;\n"
    posed = pose(drill.steps[0].probe, "seed")
    assert posed.code == ("int a;", "int b;", "int d;")
    assert posed.accepted == ("2",)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("weight = 40", "weight = 30", "sum to 90"),
        ('judged_by = "program"', 'judged_by = "gemm"', "go with judged_by"),
        ('reason = "never freed"', 'reason = "("', "no regular expression"),
        ('kind = "leak"', 'sort = "leak"', "unknown key `sort`"),
    ],
)
def test_a_file_that_is_not_complete_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert TOML.count(old) == 1
    with pytest.raises(WarpladderError, match=re.escape(said)):
        review.read_review(written(tmp_path, TOML.replace(old, new)))


def test_a_source_without_a_mark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WarpladderError, match="no line of the source is marked"):
        review.read_review(written(tmp_path, source="int b;\n"))


def test_a_drill_without_a_source_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "hunt.cu").unlink()
    with pytest.raises(WarpladderError, match="0 sources"):
        review.read_review(path)


def test_a_replacement_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    drill = dataclasses.replace(review.read_review(written(tmp_path)), changes=(Change("int", "long"),))
    with pytest.raises(WarpladderError, match="found 3 times"):
        assert drill.cured


# ---- the proof -----------------------------------------------------------------------------------------------

LEAK = FindingResult("leak", 2, "it is never freed")


@pytest.mark.parametrize(
    ("fault", "cure", "said"),
    [
        (grade("fail", "never freed", [LEAK]), grade("pass"), []),
        (grade("pass"), grade("pass"), ["the fault passes"]),
        (grade("fail", "never freed", [LEAK]), grade("fail"), ["the cure does not pass"]),
        (grade("fail", "never freed"), grade("pass"), ["the judge finds nothing, not leak"]),
        (grade("fail", "lost", [LEAK]), grade("pass"), ["`reason` is not found"]),
        (
            grade("fail", "never freed", [dataclasses.replace(LEAK, line=1)]),
            grade("pass"),
            ["the judge names lines 1, and lines 2 are marked"],
        ),
        (grade("fail", "never freed", [dataclasses.replace(LEAK, line=3)]), grade("pass"), []),
        (
            grade("fail", "never freed", [dataclasses.replace(LEAK, line=1, other=OtherAccess("read", 2))]),
            grade("pass"),
            [],
        ),
    ],
)
def test_the_proof_tells_what_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Grade, cure: Grade, said: list[str]
) -> None:
    drill = review.read_review(written(tmp_path))
    monkeypatch.setattr(
        review, "judge_output", lambda file, runs: cure if "int c" in file.read_text() else fault
    )
    found = [str(problem) for problem in review.prove(drill)]
    assert len(found) == len(said)
    assert all(part in problem for part, problem in zip(said, found, strict=True))


# ---- played --------------------------------------------------------------------------------------------------


def hunts(asks: Interviewer) -> Flow[None]:
    """What a session of bug hunts asks."""
    return Drilling(review.FORMAT, DRILLS, asks).run()


Play = Callable[..., tuple[Candidate, Session, card.Card]]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Plays one hunt, whose judge passes what the cure makes of the source."""
    drill = DRILLS[HUNT]

    def judged(self: Review, file: Path, progress: Progress = silent) -> Grade:
        right = file.read_text().startswith(self.cured)
        return grade("pass") if right else grade("fail", "Line 19: out of bounds.")

    monkeypatch.setattr(Review, "judge", judged)

    def run(line: str, beyond: str, *writes: str) -> tuple[Candidate, Session, card.Card]:
        says = {f"{HUNT}.line": line, f"{HUNT}.beyond": beyond}
        candidate = Candidate(says, {f"{HUNT}.mend": writes})
        kept = begin(review.FORMAT, [drill], seed=1)
        sit(hunts, kept, tmp_path / "review.json", candidate)
        return candidate, kept, card.of_drills([drill], kept)

    return run


def right_number() -> str:
    drill = DRILLS[HUNT]
    return pose(drill.steps[1].probe, f"1 {HUNT}.beyond", drill.drawn(1)).answer


def test_who_names_says_and_mends_has_all_points(play: Play) -> None:
    drill = DRILLS[HUNT]
    candidate, kept, shown = play(str(drill.lines[0]), right_number(), "int nothing;", drill.cured)
    assert (shown.earned, shown.worth) == (100, 100)
    assert [line.title for line in shown.sections[0].lines] == [*(step.short for step in drill.steps), "mend"]
    assert shown.sections[0].lines[-1].detail == "right, 2 tries"
    told = "\n".join(candidate.read)
    assert "**Not yet** (fail)." in told
    assert [result.reason for result in candidate.grades] == ["Line 19: out of bounds.", None]
    assert "**Right**" in told
    assert "+    if (i + BLOCK < N)" in told  # the cure, at the end
    mended = kept.answer(f"{HUNT}.mend")
    assert isinstance(mended, Code)
    assert mended.source == drill.cured


def test_the_terminal_shows_all_that_the_judge_saw_of_a_change() -> None:
    found = [
        FindingResult("race", 3, "two threads write `sums[0]`"),
        FindingResult("out of bounds", 5, "`in[9]` of 9"),
    ]
    console = terminal(width=80, record=True, file=io.StringIO())
    refused = grade("fail", "Line 3: race: two threads write `sums[0]`. Wait.", found)
    console.print(
        interviews.mended(refused, "**Not yet** (fail).", [f"line {number}" for number in range(1, 9)])
    )
    shown = "\n".join(line.rstrip() for line in console.export_text().splitlines()) + "\n"
    for part in (
        "Not yet (fail).",
        "Line 3: race",
        "line 3\n",
        "f:5: out of bounds: `in[9]` of 9",
        "line 5\n",
    ):
        assert part in shown


def test_a_wrong_line_and_no_cure_earn_nothing(play: Play) -> None:
    candidate, _, shown = play("1", "0", "skip")
    assert shown.earned == 0
    assert "A cure" in "\n".join(candidate.read)


def test_the_hint_says_the_line_and_costs_a_quarter(play: Play) -> None:
    drill = DRILLS[HUNT]
    candidate, _, shown = play(str(drill.lines[0]), right_number(), "hint", drill.cured)
    assert shown.earned == 100 - 40 / 4
    assert any("tests only the first element" in text for text in candidate.read)


def test_another_program_is_worth_half_until_it_is_a_mending(play: Play) -> None:
    drill = DRILLS[HUNT]
    longer = drill.cured + "// no more than a line\n" * 20
    candidate, _, shown = play("", "", longer, "skip")
    assert shown.earned == 40 / 2
    assert any("But 21 lines differ" in text and "change at most 9" in text for text in candidate.read)
    candidate, _, shown = play("", "", longer, drill.cured)
    assert shown.earned == 40


def test_the_file_as_it_was_is_not_judged(play: Play) -> None:
    drill = DRILLS[HUNT]
    candidate, kept, _ = play("1", "0", drill.shown, "skip")
    assert any("has not changed" in text for text in candidate.read)
    mended = kept.answer(f"{HUNT}.mend")
    assert isinstance(mended, Code)
    assert (mended.attempts, mended.share) == (0, 0)


def test_there_is_no_going_back_behind_a_later_step(play: Play) -> None:
    """What is asked later may tell what was asked before it."""
    candidate, kept, _ = play("1", "back", "skip")
    assert any("You cannot go back" in text for text in candidate.read)
    line = kept.answer(f"{HUNT}.line")
    assert isinstance(line, Probed)
    assert line.given == "1"


def test_nor_where_the_session_was_broken_off_in_between(tmp_path: Path) -> None:
    path = tmp_path / "review.json"
    first = Candidate({f"{HUNT}.line": "1"}, leaves_at=f"{HUNT}.beyond")
    with pytest.raises(BrokenOff):
        sit(hunts, begin(review.FORMAT, [DRILLS[HUNT]], seed=1), path, first)
    again = Candidate({f"{HUNT}.beyond": "back"}, {f"{HUNT}.mend": ["skip"]})
    sit(hunts, load(path), path, again)
    assert f"{HUNT}.line" not in again.asked


def test_the_file_to_be_mended_says_nothing_of_the_fault(tmp_path: Path) -> None:
    others = [HUNT, "how-it-is-launched"]
    for names, files in ([HUNT], ["review-3.cu"]), (others, ["review-3-1.cu", "review-3-2.cu"]):
        folder = tmp_path / str(len(names))
        folder.mkdir()
        kept = begin(review.FORMAT, [DRILLS[name] for name in names], seed=1)
        sit(hunts, kept, folder / "review-3.json", Candidate({}))
        assert sorted(path.name for path in folder.glob("*.cu")) == files


def test_steps_are_called_by_what_they_ask() -> None:
    step = DRILLS["rest-first"].steps[1]
    posed = replace(step.probe, text="There are {n} of them. What time, at {rate} GB/s, is it at least?")
    assert replace(step, probe=posed).title == "What time, at … GB/s, is it at least?"
    assert replace(step, probe=replace(posed, text="Two are right. Which?")).title == "Two are right. Which?"


def test_cards_call_steps_by_a_name_in_short() -> None:
    short = [[step.short for step in drill.steps] for drill in (DRILLS[HUNT], ESTIMATE)]
    assert short[0][0] == "the line"
    assert short[1] == ["mha, in KiB", "gqa, in KiB", "sequence, in GiB"]
