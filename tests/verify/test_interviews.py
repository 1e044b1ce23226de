"""Whole interviews with the judge: from the naive version to the top of each ladder, weakly, and broken off."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from knowing import Knowing, guess
from scripted_candidate import Candidate, sit
from tiers import sample

from grader.interview import card, sheet
from grader.interview.conversation import Conversation, begin
from grader.interview.interviewer import WorkbookJudge
from grader.interview.prompts import Prompt
from grader.interview.reports import sheets
from grader.interview.rounds import Interview, read_interview
from grader.interview.session import Code, Figure
from grader.judge.values import of_file
from grader.workbook import topics
from grader.workbook.expressions import ExpressionError, Number
from grader.workbook.topic import Topic

pytestmark = [pytest.mark.verify, pytest.mark.timeout(900)]

TOPICS = sorted(path.parent.name for path in (topics.content_root() / "lessons").glob("*/interview.toml"))


SEED = 5
DEVICE = os.environ.get("WARPLADDER_DEVICE", "emulator")  # set by hand where there is a GPU


@cache
def counted(topic: str, rung: str) -> Mapping[str, Number]:
    """What claims may name, of a rung."""
    loaded = topics.load(topic)
    return of_file(loaded, loaded.rung(rung).path)


class Senior:
    """Says the model answers, knows what probes ask, and the counters of every rung."""

    def __init__(self, interview: Interview) -> None:
        self.interview = interview
        self.knows = Knowing(interview.probes, SEED)

    def __call__(self, asked: Prompt) -> str:
        if asked.step.endswith(".probe"):
            return self.knows(asked)
        if asked.step == "opening":
            return self.interview.answer
        if asked.step.startswith("follow_up"):
            return "The same as the model answer."
        rung, _, part = asked.step.partition(".")
        rungs = [item.rung for item in self.interview.rounds]
        number = rungs.index(rung)
        item = self.interview.rounds[number]
        if part in ("limits", "next"):
            return item.answer
        assert item.ratio is not None
        names = (rungs[number - 1], rung) if part == "before" else (rung,)
        for name in names:  # a version to which the ratio does not apply is not asked about
            try:
                return f"{item.ratio.value.evaluate(counted(self.interview.topic, name)):.6g}"
            except ExpressionError:
                continue
        raise AssertionError(f"nobody can answer {asked.step}")


def play(topic: Topic, folder: Path, candidate: Candidate) -> card.Card:
    interview = read_interview(topic)
    kept = begin(interview, folder / f"mine{topic.suffix}", SEED, 0)
    sit(
        lambda asks: Conversation(topic, asks).run(),
        kept,
        folder / "session.json",
        candidate,
        WorkbookJudge(DEVICE),
    )
    return card.of_interview(interview, topic, kept)


@pytest.mark.parametrize("name", sample(TOPICS, ["transpose"], "interview"))
def test_a_strong_candidate_climbs_from_naive_to_the_top(name: str, tmp_path: Path) -> None:
    topic = topics.load(name)
    interview = read_interview(topic)
    writes = {f"{item.rung}.code": [topic.rung(item.rung).path.read_text()] for item in interview.rounds}
    candidate = Candidate(Senior(interview), writes, rates=1)
    result = play(topic, tmp_path, candidate)
    assert result.rung_reached == topic.rungs[-1].id
    assert [step for step in candidate.asked if step.endswith(".code")] == list(writes)
    wrong = [figure for figure in candidate.figures if not figure.right]
    assert wrong == []
    assert result.percent == 100
    assert [grade.verdict for grade in candidate.grades] == ["pass"] * len(writes)
    after = [figure for figure in candidate.figures if not figure.step.endswith(".before")]
    assert {figure.counted_on for figure in after} == {"own"}


@pytest.mark.parametrize("name", sample(["transpose", "streams"], ["streams"], "interview"))
def test_a_weak_candidate_gets_a_fair_card(name: str, tmp_path: Path) -> None:
    """The naive version after a wrong one, keywords, guesses for answers, and no more code."""
    topic = topics.load(name)
    rounds = read_interview(topic).rounds
    naive = topic.rungs[0].path.read_text()
    wrong = next(
        iter(sorted((Path(__file__).parents[1] / "submissions" / name).glob("grid_rounds_down.*"))), None
    )
    first = wrong.read_text() if wrong is not None else naive.replace("column < N", "column <= N")

    guessed = guess(random.Random(1), lambda asked, rng: rng.randrange(len(asked.options)))

    def says(asked: Prompt) -> str:
        if asked.step.endswith((".limits", ".next")):
            return "memory bandwidth, shared memory, streams, cache"
        if asked.step.endswith((".before", ".after", ".now")):
            return "1000"
        return guessed(asked) if asked.wanted else "It depends."

    candidate = Candidate(says, {f"{rounds[0].rung}.code": [first, naive]})
    result = play(topic, tmp_path, candidate)
    assert [grade.verdict for grade in candidate.grades] == ["fail", "pass"]
    assert result.rung_reached == topic.rungs[0].id
    codes = {
        line.step: line.earned for section in result.sections for line in section.lines if "code" in line.step
    }
    assert codes == {f"{item.rung}.code": 20.0 if item is rounds[0] else 0.0 for item in rounds}
    talk = [line for section in result.sections for line in section.lines if line.points]
    assert sum(line.earned for line in talk) <= 0.15 * sum(line.worth for line in talk)
    assert not any(figure.right for figure in candidate.figures)
    assert result.earned <= 0.3 * result.worth
    assert result.advice


def test_a_wrong_prediction_is_held_against_the_candidates_own_kernel(tmp_path: Path) -> None:
    """A tile with bank conflicts written again has 32 wavefronts a request, whatever was asked for."""
    topic = topics.load("transpose")
    tile = topic.rung("02_shared_tile").path.read_text()
    writes = {"02_shared_tile.code": [tile], "03_padded_tile.code": [f"{tile}// again\n", "skip"]}
    candidate = Candidate({"03_padded_tile.before": "32", "03_padded_tile.after": "1"}, writes)
    play(topic, tmp_path, candidate)
    kept = json.loads((tmp_path / "session.json").read_text())
    before, after = (
        next(item for item in kept["answers"] if item["step"] == f"03_padded_tile.{part}")
        for part in ("before", "after")
    )
    assert (before["answer"], before["counted_on"], before["right"]) == (32, "own", True)
    assert (after["answer"], after["counted_on"]) == (1, "workbook")


@pytest.mark.parametrize("name", sample(TOPICS, ["transpose"], "interview"))
def test_the_sheet_for_two_has_every_ratio(name: str) -> None:
    topic = topics.load(name)
    interview = read_interview(topic)
    page = sheets.of_interview(sheet.of_interview(interview, topic))
    assert page.count("counted on the workbook") == sum(item.ratio is not None for item in interview.rounds)
    assert "<strong>None</strong>" not in page


def test_a_session_that_was_killed_is_resumed(tmp_path: Path) -> None:
    """The process is killed in the middle; every answer up to then is there again."""
    command = [sys.executable, "-m", "grader", "interview", "transpose", "--device", "emulator"]
    environment = {**os.environ, "COLUMNS": "80"}
    pipes = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "text": True,
        "cwd": tmp_path,
        "env": environment,
    }
    process = subprocess.Popen(command, **pipes)  # type: ignore[call-overload]
    process.stdin.write("It is bound by the bandwidth of memory, as any copy is.\n\n")
    process.stdin.flush()
    path = tmp_path / "interview-transpose-1.json"
    limit = time.monotonic() + 60
    while "opening" not in (path.read_text() if path.is_file() else "") and time.monotonic() < limit:
        time.sleep(0.05)
    process.kill()
    process.communicate()
    (tmp_path / "interview-transpose-1.cu").write_text(
        topics.load("transpose").rungs[0].path.read_text(), encoding="utf-8"
    )
    typed = "skip\n" * 3 + "\nskip\n"  # three probes, the code, what limits it
    again = subprocess.run(
        [*command, "--resume", path.name], input=typed, capture_output=True, text=True, cwd=tmp_path,
        env=environment, check=False,
    )  # fmt: skip
    assert again.returncode == 1, again.stderr
    assert "how fast can a" not in again.stdout
    assert "RIGHT" in again.stdout
    assert "Broken off" in again.stdout
    assert all(len(line) <= 80 or "ladder " in line for line in again.stdout.splitlines()), (
        "commands stay whole"
    )
    steps = [item["step"] for item in json.loads(path.read_text())["answers"]]
    assert [step for step in steps if not step.startswith("opening.")] == [
        "opening",
        "00_naive.code",
        "00_naive.limits",
    ]


def test_answers_of_a_session_are_typed(tmp_path: Path) -> None:
    """What the judge counted is kept with the version, so that the ratio can be asked again."""
    topic = topics.load("transpose")
    interview = read_interview(topic)
    kept = begin(interview, tmp_path / "mine.cu", SEED, 0)
    naive = topic.rungs[0].path.read_text()
    candidate = Candidate({"00_naive.now": "200/9"}, {"00_naive.code": [naive]})
    sit(
        lambda asks: Conversation(topic, asks).run(),
        kept,
        tmp_path / "s.json",
        candidate,
        WorkbookJudge(DEVICE),
    )
    code, figure = kept.answer("00_naive.code"), kept.answer("00_naive.now")
    assert isinstance(code, Code)
    assert isinstance(figure, Figure)
    assert code.source == naive
    assert code.counters is not None
    assert figure.right
