"""Interviews and quizzes on the little topic, with a judge who reads the answer off the source."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import little_interview
import msgspec
import pytest
from scripted_candidate import Candidate

from grader.errors import WarpladderError
from grader.interview import bank, card, quiz, session
from grader.interview.conversation import Conversation, begin
from grader.interview.interviewer import BrokenOff
from grader.interview.rounds import read_interview
from grader.interview.session import Clock, Session
from grader.judge.runners.pool import Progress
from grader.results import ClaimResult, Grade
from grader.workbook import topics
from grader.workbook.expressions import Number
from grader.workbook.topic import Topic

REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
NAIVE, WIDE, WRONG = "// reaches 00_naive", "// reaches 01_wide", "// wrong"
FLOATS = {"00_naive": 32, "01_wide": 128}  # a request

GOOD = {
    "opening": "A copy is memory-bound. Every byte is read once and it is written once. So it takes 8 N bytes.",
    "00_naive.now": "32",
    "00_naive.limits": "It makes many requests. Each of them moves only 32 floats at a time.",
    "00_naive.next": "I would take float4s, because then each thread moves 16 bytes at a time.",
    "01_wide.before": "32",
    "01_wide.after": "4 * 32",
    "01_wide.limits": "It is the bandwidth alone that limits this now.",
    "01_wide.next": "I would stop there. Nothing is left that we could gain.",
}
STEPS = ["opening", "00_naive.code", "00_naive.now", "00_naive.limits", "00_naive.next", "01_wide.after",
         "01_wide.code", "01_wide.limits", "01_wide.next", "follow_up.0", "follow_up.1"]  # fmt: skip


class Judge:
    """Believes what the source says of itself."""

    def grade(self, topic: Topic, file: Path, progress: Progress) -> Grade:
        source = file.read_text()
        rung = next((rung for rung in FLOATS if rung in source), None)
        claims = [ClaimResult(c.text, rung == c.rung, 1.0, c.rung, c.points) for c in topic.claims]
        return Grade(
            topic=topic.name,
            file=str(file),
            verdict="pass" if rung else "fail",
            reason=None if rung else "wrong",
            rung_reached=rung,
            points=0,
            max_points=10,
            cases=[],
            findings=[],
            claims=claims if rung else [],
            hints=[],
            counters={REQUESTS: 4096 // FLOATS[rung]} if rung else None,
            facts={"registers": 8} if rung else None,
        )

    def values(self, topic: Topic, file: Path) -> Mapping[str, Number]:
        rung = "01_wide" if "wide" in file.name else "00_naive"
        return {"N": 4096, REQUESTS: 4096 // FLOATS[rung]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return little_interview.write(tmp_path)


@pytest.fixture
def topic(root: Path) -> Topic:
    return topics.load("copy", root)


class Seconds:
    """A clock of one's own: so many seconds go by at each step."""

    def __init__(self, **at: float) -> None:
        self.now, self._at = 0.0, at

    def __call__(self) -> float:
        return self.now

    def wait(self, step: str) -> None:
        self.now += self._at.get(step.replace(".", "_"), 1.0)


def play(
    topic: Topic, path: Path, candidate: Candidate, minutes: float = 30, seconds: Seconds | None = None
) -> Session:
    """An interview, from the file at `path` where there is one."""
    kept = (
        session.load(path)
        if path.is_file()
        else begin(read_interview(topic), path.with_suffix(".cu"), minutes)
    )
    clock = Clock(kept.minutes, kept.elapsed_s, seconds or Seconds())
    return Conversation(topic, kept, path, candidate, Judge(), clock).run()


def scored(topic: Topic, kept: Session) -> card.Card:
    return card.of_interview(read_interview(topic), topic, kept)


def line(result: card.Card, step: str) -> card.Line:
    return next(item for section in result.sections for item in section.lines if item.step == step)


WRITES = {"00_naive.code": [NAIVE], "01_wide.code": [WIDE]}


def test_a_strong_candidate_gets_everything(topic: Topic, tmp_path: Path) -> None:
    candidate = Candidate(GOOD, WRITES)
    kept = play(topic, tmp_path / "s.json", candidate)
    result = scored(topic, kept)
    assert candidate.asked == STEPS
    assert kept.over
    assert result.percent == 100
    assert result.rung_reached == "01_wide"
    assert result.advice == []
    assert [figure.answer for figure in candidate.figures] == [32, 128]
    assert all(figure.counted_on == "own" for figure in candidate.figures)


def test_a_weak_candidate_gets_a_fair_card(topic: Topic, tmp_path: Path) -> None:
    says = {
        "opening": "memory bandwidth",
        "00_naive.now": "four",
        "01_wide.after": "128",
    }
    candidate = Candidate(says, {"00_naive.code": [WRONG, "hint", NAIVE], "01_wide.code": [WRONG, "skip"]})
    result = scored(topic, play(topic, tmp_path / "s.json", candidate))
    assert line(result, "opening").earned == pytest.approx(20 * 0.6 / 2)  # one point, only named
    assert line(result, "00_naive.code").earned == 15  # with a hint
    assert line(result, "00_naive.code").detail == "right, reaches 00_naive, 2 tries, with a hint"
    assert line(result, "00_naive.now").earned == 0
    assert line(result, "00_naive.limits").detail == "no answer"
    assert line(result, "01_wide.code").detail == "fail, at the first try"
    assert line(result, "01_wide.after").earned == 10  # right, as the workbook's own version shows
    assert "the workbook's kernel" in line(result, "01_wide.after").detail
    assert result.earned == pytest.approx(6 + 15 + 10)
    assert result.rung_reached == "00_naive"
    assert [advice.section for advice in result.advice] == ["To begin with", "00_naive", "01_wide"]
    assert "four" in candidate.complaints[0]


def test_no_answer_at_all_ends_in_a_card_of_nothing(topic: Topic, tmp_path: Path) -> None:
    result = scored(topic, play(topic, tmp_path / "s.json", Candidate({})))
    assert result.percent == 0
    assert result.rung_reached is None


@pytest.mark.parametrize("step", STEPS)
def test_an_interview_broken_off_goes_on(topic: Topic, tmp_path: Path, step: str) -> None:
    path, before, after = tmp_path / "s.json", Seconds(), Seconds()
    with pytest.raises(BrokenOff) as left:
        play(topic, path, Candidate(GOOD, WRITES, leaves_at=step, waits=before.wait), seconds=before)
    assert left.value.path == path
    after.now = 5000  # the pause is nobody's
    again = Candidate(GOOD, WRITES, waits=after.wait)
    kept = play(topic, path, again, seconds=after)
    assert again.asked == STEPS[STEPS.index(step) :]
    assert scored(topic, kept).percent == 100
    assert kept.elapsed_s == len(STEPS)  # a second each


def test_a_hint_and_tries_are_remembered(topic: Topic, tmp_path: Path) -> None:
    path = tmp_path / "s.json"

    class Leaves(Candidate):
        def code(self, *arguments: Any) -> Any:
            if not self._writes["00_naive.code"]:
                raise KeyboardInterrupt
            return super().code(*arguments)

    with pytest.raises(BrokenOff):
        play(topic, path, Leaves({}, {"00_naive.code": ["hint", WRONG]}))
    result = scored(topic, play(topic, path, Candidate({}, {"00_naive.code": [NAIVE]})))
    assert line(result, "00_naive.code").detail == "right, reaches 00_naive, 2 tries, with a hint"


def test_a_ratio_that_was_just_told_is_not_asked_again(topic: Topic, tmp_path: Path) -> None:
    """Not of one's own kernel, nor of the workbook's; its points go to the prediction."""
    for number, writes in enumerate((WRITES, {}, {"00_naive.code": [WRONG, "skip"], "01_wide.code": [WIDE]})):
        candidate = Candidate(GOOD, writes)
        result = scored(topic, play(topic, tmp_path / f"{number}.json", candidate))
        assert "01_wide.before" not in candidate.asked
        assert "Now with float4s." in candidate.texts["01_wide.after"]
        assert (line(result, "01_wide.after").worth, line(result, "01_wide.after").earned) == (10, 10)
        assert result.worth == 120


def test_another_ratio_or_another_version_is_asked_before(root: Path, tmp_path: Path) -> None:
    file = root / "lessons/copy/interview.toml"
    whole = file.read_text()
    head, mark, tail = whole.rpartition("How many floats does a request bring?")
    file.write_text(f"{head}How many floats are there to a load request?{tail}")
    other = topics.load("copy", root)
    candidate = Candidate(GOOD, WRITES)
    result = scored(other, play(other, tmp_path / "s.json", candidate))
    assert mark
    assert candidate.asked == [*STEPS[:5], "01_wide.before", *STEPS[5:]]
    assert line(result, "01_wide.before").worth == line(result, "01_wide.after").worth == 5
    assert (result.worth, result.percent) == (120, 100)


def test_an_answer_from_before_it_was_left_out_still_counts(topic: Topic, tmp_path: Path) -> None:
    """A session that was kept by an earlier workbook has an answer there."""
    path = tmp_path / "s.json"
    kept = play(topic, path, Candidate(GOOD, WRITES))
    now = kept.answer("00_naive.now")
    assert now is not None
    kept.answers.append(msgspec.structs.replace(now, step="01_wide.before"))
    result = scored(topic, kept)
    assert line(result, "01_wide.before").earned == line(result, "01_wide.after").earned == 5


def test_who_runs_ahead_is_not_held_up(topic: Topic, tmp_path: Path) -> None:
    candidate = Candidate(GOOD, {"00_naive.code": [WIDE]})
    result = scored(topic, play(topic, tmp_path / "s.json", candidate))
    assert candidate.asked == ["opening", "00_naive.code", "00_naive.now", "01_wide.limits", "01_wide.next",
                               "follow_up.0", "follow_up.1"]  # fmt: skip
    assert line(result, "01_wide.code").earned == 20
    assert result.earned == result.asked - 10  # the ratio of that version is 128, and 32 was said
    assert result.worth == result.asked


def test_time_runs_out(topic: Topic, tmp_path: Path) -> None:
    seconds = Seconds(opening=600, **{"00_naive_code": 1150})
    candidate = Candidate(GOOD, WRITES, waits=seconds.wait)
    seconds_of = {"00_naive.now": 49.0}  # up to 29:59; the next answer is within the minute of grace
    seconds._at |= {step.replace(".", "_"): value for step, value in seconds_of.items()}
    seconds._at["00_naive_limits"] = 30
    result = scored(topic, play(topic, tmp_path / "s.json", candidate, seconds=seconds))
    assert candidate.asked == STEPS[:4]
    assert candidate.time_was_up
    assert line(result, "00_naive.limits").earned == 10
    assert line(result, "00_naive.next").state == "unasked"
    assert result.percent_of_asked == 100
    assert result.percent == pytest.approx(100 * 60 / result.worth)
    assert result.used_s == 600 + 1150 + 49 + 30


def test_what_comes_too_late_does_not_count(topic: Topic, tmp_path: Path) -> None:
    seconds = Seconds(opening=1800 + 61)
    result = scored(
        topic, play(topic, tmp_path / "s.json", Candidate(GOOD, waits=seconds.wait), seconds=seconds)
    )
    assert line(result, "opening").state == "late"
    assert result.earned == 0


def test_without_a_limit_time_never_runs_out(topic: Topic, tmp_path: Path) -> None:
    seconds = Seconds(opening=1e6)
    candidate = Candidate(GOOD, WRITES, waits=seconds.wait)
    assert scored(topic, play(topic, tmp_path / "s.json", candidate, 0, seconds)).percent == 100


def test_the_clock_stands_still_while_somebody_else_works() -> None:
    seconds = Seconds()
    clock = Clock(1, 0, seconds)
    seconds.now = 10
    with clock.paused():
        seconds.now = 500
    assert clock.elapsed_s == 10
    assert clock.left_s == 50


def test_corrections_are_marked_as_self_scored(topic: Topic, tmp_path: Path) -> None:
    says = GOOD | {"00_naive.limits": "Loads are narrow.", "opening": GOOD["opening"]}
    corrects = {"00_naive.limits": {0: 1.0}, "opening": {0: 0.5}}
    result = scored(topic, play(topic, tmp_path / "s.json", Candidate(says, WRITES, corrects=corrects)))
    assert line(result, "00_naive.limits").earned == 7
    assert line(result, "00_naive.limits").self_scored == 7
    assert line(result, "opening").self_scored == pytest.approx(-6)
    assert result.self_scored == pytest.approx(1)
    assert line(result, "00_naive.limits").points[0].self_scored == 1


def test_what_was_found_in_the_opening_is_told_at_the_end(topic: Topic, tmp_path: Path) -> None:
    """Its points would tell what the versions are."""
    reviewed: list[tuple[str, int]] = []

    class Listens(Candidate):
        def found(self, talk: session.Talk) -> Mapping[int, float]:
            reviewed.append((talk.step, len(self.asked)))
            return {}

    play(topic, tmp_path / "s.json", Listens(GOOD, WRITES))
    assert reviewed[-1] == ("opening", len(STEPS))
    assert "opening" not in [step for step, _ in reviewed[:-1]]


def test_an_unchanged_file_is_not_graded(topic: Topic, tmp_path: Path) -> None:
    starter = topic.starter.read_text()
    candidate = Candidate({}, {"00_naive.code": [starter, WRONG, WRONG, NAIVE]})
    play(topic, tmp_path / "s.json", candidate)
    assert len(candidate.grades) == 2
    assert sum("has not changed" in text for text in candidate.read) == 2


def test_the_candidate_begins_with_the_starter(topic: Topic, tmp_path: Path) -> None:
    with pytest.raises(BrokenOff):
        play(topic, tmp_path / "s.json", Candidate({}, leaves_at="opening"))
    assert (tmp_path / "s.cu").read_text() == topic.starter.read_text()


def test_a_session_survives_its_file(topic: Topic, tmp_path: Path) -> None:
    kept = play(topic, tmp_path / "s.json", Candidate(GOOD, WRITES))
    assert session.load(tmp_path / "s.json") == kept
    assert not list(tmp_path.glob("*.new"))


@pytest.mark.parametrize("data", ["{", '{"kind": "interview"}', '["a"]', "\xff"])
def test_what_is_no_session_is_refused(tmp_path: Path, data: str) -> None:
    (tmp_path / "s.json").write_bytes(data.encode("latin-1"))
    with pytest.raises(WarpladderError, match="no session"):
        session.load(tmp_path / "s.json")


def test_cards_go_to_json(topic: Topic, tmp_path: Path) -> None:
    result = scored(topic, play(topic, tmp_path / "s.json", Candidate(GOOD, WRITES)))
    found = msgspec.json.decode(card.to_json(result))
    assert found["schema"] == "warpladder/card/2"
    assert found["earned"] == found["worth"] == result.worth
    assert len(found["sections"]) == 3
    assert {field.name for field in dataclasses.fields(card.Card)} == set(found)


# ---- the quiz ----------------------------------------------------------------------------------------------


def ask(root: Path, path: Path, candidate: Candidate, seed: int = 1, kernels: bool = False) -> Session:
    """A quiz of the one question."""
    found = bank.discover(root)
    kept = session.load(path) if path.is_file() else quiz.begin(list(found.values()), seed, kernels=kernels)
    clock = Clock(0, kept.elapsed_s, Seconds())
    return quiz.Quiz(found, topics.discover(root), kept, path, candidate, Judge(), clock).run()


def test_a_quiz_asks_in_words_in_numbers_and_for_kernels(root: Path, tmp_path: Path) -> None:
    def answer(asked: Any) -> str:
        floats = 1024 if "1,024" in asked.text else 2048
        return f"8 * {floats}" if "moved" in asked.step else GOOD["opening"]

    candidate = Candidate(answer, {"hpc-01.copy.01_wide": [NAIVE, WIDE]}, rates=1)
    kept = ask(root, tmp_path / "q.json", candidate, kernels=True)
    result = card.of_quiz(bank.discover(root), kept)
    assert candidate.asked[:4] == [
        "hpc-01",
        "hpc-01.bytes_moved",
        "hpc-01.copy.01_wide",
        "hpc-01.copy.01_wide",
    ]
    assert result.percent == 100
    assert result.worth == 35
    assert [item.self_scored for item in result.follow_ups] == [1]


def test_a_quiz_broken_off_goes_on_with_the_same_numbers(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    with pytest.raises(BrokenOff):
        ask(root, path, Candidate(GOOD, leaves_at="hpc-01.bytes_moved"), seed=4)
    again = Candidate({"hpc-01.bytes_moved": "1"})
    ask(root, path, again)
    alone = Candidate({})
    ask(root, tmp_path / "other.json", alone, seed=4)
    assert again.asked[0] == "hpc-01.bytes_moved"
    assert again.texts["hpc-01.bytes_moved"] == alone.texts["hpc-01.bytes_moved"]


def test_numbers_differ_from_seed_to_seed(root: Path) -> None:
    question = bank.load("hpc-01", root)
    texts = {quiz.draw(question, question.numbers[0], seed).text for seed in range(20)}
    assert len(texts) == 2


def test_questions_are_chosen(root: Path) -> None:
    found = bank.discover()
    assert [item.id for item in quiz.choose(found, ["hpc-15", "hpc-01", "hpc-15"], None, 0, None)] == [
        "hpc-15",
        "hpc-01",
    ]
    assert all("gemm" in item.topics for item in quiz.choose(found, [], "gemm", 0, 3))
    draws = [[item.id for item in quiz.choose(found, [], None, seed, 5)] for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    assert len(set(draws[0])) == 5
    for ids, topic in ((["hpc-99"], None), ([], "knitting")):
        with pytest.raises(WarpladderError, match=r"no question"):
            quiz.choose(found, ids, topic, 0, None)
