"""Interviews and quizzes on the little topic, with a judge who reads the answer off the source."""

import dataclasses
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import little_interview
import msgspec
import pytest
from knowing import Knowing
from scripted_candidate import Candidate, sit

from grader.errors import WarpladderError
from grader.interview import bank, card, quiz, session
from grader.interview.conversation import Conversation, begin
from grader.interview.driving import BrokenOff
from grader.interview.interviewer import Interviewer
from grader.interview.prompts import Prompt
from grader.interview.reports import interviews
from grader.interview.rounds import read_interview
from grader.interview.session import Do, Probed, Session
from grader.interview.talks import Talks
from grader.interview.writing import unwritten
from grader.judge.runners.pool import Progress
from grader.report.terminal import terminal
from grader.results import ClaimResult, Grade
from grader.workbook import topics
from grader.workbook.expressions import Number
from grader.workbook.topic import Topic

REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
NAIVE, WIDE, WRONG = "// reaches 00_naive", "// reaches 01_wide", "// wrong"
FLOATS = {"00_naive": 32, "01_wide": 128}  # a request

TALKS = {
    "opening": "A copy is memory-bound. Every byte is read once and it is written once. So it takes 8 N bytes.",
    "00_naive.limits": "It makes many requests. Each of them moves only 32 floats at a time.",
    "00_naive.next": "I would take float4s, because then each thread moves 16 bytes at a time.",
    "01_wide.limits": "It is the bandwidth alone that limits this now.",
    "01_wide.next": "I would stop there. Nothing is left that we could gain.",
}
FIGURES = {"00_naive.now": "32", "01_wide.before": "32", "01_wide.after": "4 * 32"}


def steps(talk: str, points: int) -> list[str]:
    """What is asked of a talk."""
    return [talk, *(f"{talk}.{number}.probe" for number in range(points))]


STEPS = [
    *steps("opening", 3), "00_naive.code", *steps("00_naive.limits", 2), "00_naive.now", *steps("00_naive.next", 2),
    "01_wide.after", "01_wide.code", *steps("01_wide.limits", 2), *steps("01_wide.next", 2),
    "follow_up.0", "follow_up.1",
]  # fmt: skip
SEED = 7


class Good:
    """Says everything, and knows every answer; `says` in the place of that."""

    def __init__(self, entry: bank.Entry, says: Mapping[str, str] | None = None, seed: int = SEED) -> None:
        self.knows = Knowing(entry.probes, seed)
        self.says = {**TALKS, **FIGURES, **(says or {})}

    def __call__(self, asked: Prompt) -> str:
        if asked.step in self.says:
            return self.says[asked.step]
        return self.knows(asked) if asked.step.endswith(".probe") else ""


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
        else begin(read_interview(topic), path.with_suffix(".cu"), SEED, minutes)
    )
    return sit(
        lambda asks: Conversation(topic, asks).run(), kept, path, candidate, Judge(), seconds or Seconds()
    )


def good(topic: Topic, **says: str) -> Good:
    """Somebody who knows it all; `says` by step, with __ for points."""
    return Good(read_interview(topic), {step.replace("__", "."): text for step, text in says.items()})


def scored(topic: Topic, kept: Session) -> card.Card:
    return card.of_interview(read_interview(topic), topic, kept)


def shown(result: card.Card, whole_by: str = "") -> str:
    """The card as a terminal shows it."""
    console = terminal(width=80, record=True, file=io.StringIO())
    console.print(interviews.card(result, whole_by))
    return console.export_text()


def line(result: card.Card, step: str) -> card.Line:
    return next(item for section in result.sections for item in section.lines if item.step == step)


WRITES = {"00_naive.code": [NAIVE], "01_wide.code": [WIDE]}


def test_a_strong_candidate_gets_everything(topic: Topic, tmp_path: Path) -> None:
    candidate = Candidate(good(topic), WRITES)
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
        "opening.0.probe": "12",
        "opening.2.probe": "abc",
        "00_naive.now": ["many", "4"],
        "01_wide.after": "128",
    }
    candidate = Candidate(says, {"00_naive.code": [WRONG, "hint", NAIVE], "01_wide.code": [WRONG, "skip"]})
    result = scored(topic, play(topic, tmp_path / "s.json", candidate))
    assert line(result, "opening").detail == "0 of 3 points right"
    assert line(result, "00_naive.code").earned == 15  # with a hint
    assert line(result, "00_naive.code").detail == "right, reaches 00_naive, 2 tries, with a hint"
    assert line(result, "00_naive.now").earned == 0
    assert line(result, "00_naive.limits").detail == "0 of 2 points right"
    assert line(result, "01_wide.code").detail == "fail, at the first try"
    assert line(result, "01_wide.after").earned == 10  # right, as the workbook's own version shows
    assert "the workbook's kernel" in line(result, "01_wide.after").detail
    assert result.earned == pytest.approx(15 + 10, abs=1)
    assert result.rung_reached == "00_naive"
    assert [advice.section for advice in result.advice] == ["To begin with", "00_naive", "01_wide"]
    assert "many" in candidate.complaints[0]


def test_a_short_card_has_what_cost_most_and_how_to_see_the_rest(topic: Topic, tmp_path: Path) -> None:
    result = scored(
        topic, play(topic, tmp_path / "s.json", Candidate({"opening": "memory bandwidth"}, WRITES))
    )
    short = shown(result, "ladder interview copy --resume s.json --long")
    missed = [point for advice in result.advice for point in advice.missed]
    assert len(missed) > interviews.COSTLIEST
    in_short = " ".join(short.split())
    assert sum(text in in_short for text in missed) == interviews.COSTLIEST
    assert f"{len(missed) - interviews.COSTLIEST} more statements cost something." in in_short
    assert "To begin with: " in in_short
    assert short.endswith("  ladder interview copy --resume s.json --long\n")
    assert all(text in " ".join(shown(result).split()) for text in missed)


@pytest.mark.parametrize("opening", ["", "It is bound by arithmetic, and no byte is moved.", "带宽"])
def test_what_is_said_is_no_part_of_the_score(topic: Topic, tmp_path: Path, opening: str) -> None:
    knows = scored(topic, play(topic, tmp_path / "s.json", Candidate(good(topic, opening=opening), WRITES)))
    assert line(knows, "opening").earned == 20
    assert line(knows, "opening").text == opening
    says = scored(topic, play(topic, tmp_path / "t.json", Candidate({**TALKS, "opening": opening}, WRITES)))
    assert line(says, "opening").earned == 0
    assert says.earned == 40  # the code


def test_a_question_that_is_skipped_is_not_checked(topic: Topic, tmp_path: Path) -> None:
    candidate = Candidate(good(topic, opening="skip"), WRITES)
    result = scored(topic, play(topic, tmp_path / "s.json", candidate))
    assert "opening.0.probe" not in candidate.asked
    assert (line(result, "opening").detail, line(result, "opening").earned) == ("skipped", 0)
    assert {point.unasked for point in line(result, "opening").points} == {"skipped"}
    assert not any(point.unasked for point in line(result, "00_naive.limits").points)


def test_a_figure_that_was_asked_for_is_not_asked_for_again(topic: Topic, tmp_path: Path) -> None:
    points = read_interview(topics.load("histogram")).every_point
    probe = next(each for point in points for each in point.probes if each.name == "kib_of_lane_copies")
    kept = begin(read_interview(topic), tmp_path / "s.cu", SEED)
    talks = Talks(Interviewer(kept, tmp_path / "s.json", Judge()))

    def drawn(step: str = "round.next.0.probe") -> set[str]:
        return {talks._drawn(probe, str(seed), step).answer for seed in range(20)}

    first = drawn()
    assert {"16", "32"} < first
    kept.answers.append(
        Probed("round.limits.0.probe", "t/p", "?", [], [], "KiB", "32", "32", True, 0.0, "", 1.0)
    )
    assert drawn() == first - {"32"}
    assert drawn("another.next.0.probe") == first


def test_a_candidate_may_ask_back_skip_and_go_back(topic: Topic, tmp_path: Path) -> None:
    knows = good(topic)
    typed = {
        "opening": ["?", TALKS["opening"], "It is bound by bandwidth."],
        "opening.0.probe": ["back", "1", "skip"],
    }

    def says(asked: Prompt) -> str:
        waiting = typed.get(asked.step)
        return waiting.pop(0) if waiting else knows(asked)

    seen: list[tuple[str, bool, str]] = []

    def sees(asked: Prompt) -> str:
        seen.append((asked.step, asked.back, asked.typed))
        return says(asked)

    candidate = Candidate(sees, WRITES)
    result = scored(topic, play(topic, tmp_path / "s.json", candidate))
    assert candidate.asked[:4] == ["opening", "opening", "opening.0.probe", "opening"]
    assert seen[:4] == [
        ("opening", False, ""),
        ("opening", False, ""),
        ("opening.0.probe", True, ""),
        ("opening", False, TALKS["opening"]),
    ]
    told = [step for step, back, _ in seen if not back]
    assert {"00_naive.limits", "follow_up.0"} <= set(told)  # something was told before each
    assert any("Say how it works" in text for text in candidate.read)
    assert line(result, "opening").text == "It is bound by bandwidth."


def test_there_is_no_going_back_behind_what_was_told(topic: Topic, tmp_path: Path) -> None:
    knows, back = good(topic), ["back"]

    def says(asked: Prompt) -> str:
        return back.pop() if asked.step == "00_naive.limits" and back else knows(asked)

    candidate = Candidate(says, WRITES)
    kept = play(topic, tmp_path / "s.json", candidate)
    assert any("You cannot go back" in text for text in candidate.read)
    assert kept.answer("00_naive.code") is not None
    assert scored(topic, kept).percent == 100


def test_a_version_that_earns_less_than_all_may_be_sent_again(topic: Topic, tmp_path: Path) -> None:
    """Such as one that is right, and not at every size."""

    class Strict(Judge):
        def grade(self, topic: Topic, file: Path, progress: Progress) -> Grade:
            missing = ClaimResult("right at every size", "better" in file.read_text(), None, "00_naive", 4)
            result = super().grade(topic, file, progress)
            return dataclasses.replace(result, claims=[missing, *result.claims])

    kept = begin(read_interview(topic), tmp_path / "s.cu", SEED, 0)
    candidate = Candidate(
        good(topic), {"00_naive.code": [NAIVE, f"{NAIVE} better"], "01_wide.code": [WIDE, "skip"]}
    )
    sit(lambda asks: Conversation(topic, asks).run(), kept, tmp_path / "s.json", candidate, Strict())
    result = scored(topic, kept)
    assert line(result, "00_naive.code").detail == "right, reaches 00_naive, 2 tries"
    assert line(result, "00_naive.code").earned == 20
    assert line(result, "01_wide.code").earned == pytest.approx(20 * 10 / 14)
    assert "not all of it holds" in interviews.not_yet(candidate.grades[0], "00_naive", topic)


def test_no_answer_at_all_ends_in_a_card_of_nothing(topic: Topic, tmp_path: Path) -> None:
    result = scored(topic, play(topic, tmp_path / "s.json", Candidate({})))
    assert result.percent == 0
    assert result.rung_reached is None


@pytest.mark.parametrize("step", STEPS)
def test_an_interview_broken_off_goes_on(topic: Topic, tmp_path: Path, step: str) -> None:
    path, before, after = tmp_path / "s.json", Seconds(), Seconds()
    with pytest.raises(BrokenOff) as left:
        play(topic, path, Candidate(good(topic), WRITES, leaves_at=step, waits=before.wait), seconds=before)
    assert left.value.path == path
    after.now = 5000  # the pause is nobody's
    again = Candidate(good(topic), WRITES, waits=after.wait)
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
        candidate = Candidate(good(topic), writes)
        result = scored(topic, play(topic, tmp_path / f"{number}.json", candidate))
        assert "01_wide.before" not in candidate.asked
        assert "Now with float4s." in candidate.texts["01_wide.after"]
        assert (line(result, "01_wide.after").worth, line(result, "01_wide.after").earned) == (10, 10)
        assert result.worth == 120


def test_what_is_to_be_written_stands_beside_it(topic: Topic, tmp_path: Path) -> None:
    with pytest.raises(BrokenOff):
        play(topic, tmp_path / "s.json", Candidate(good(topic), WRITES, leaves_at="01_wide.code"))
    candidate = Candidate(good(topic), WRITES)
    play(topic, tmp_path / "s.json", candidate)
    assert "Now with float4s." in candidate.texts["01_wide.code"]


def test_another_ratio_or_another_version_is_asked_before(root: Path, tmp_path: Path) -> None:
    file = root / "lessons/copy/interview.toml"
    whole = file.read_text()
    head, mark, tail = whole.rpartition("How many floats does a request bring?")
    file.write_text(f"{head}How many floats are there to a load request?{tail}")
    other = topics.load("copy", root)
    candidate = Candidate(good(other), WRITES)
    result = scored(other, play(other, tmp_path / "s.json", candidate))
    assert mark
    place = STEPS.index("01_wide.after")
    assert candidate.asked == [*STEPS[:place], "01_wide.before", *STEPS[place:]]
    assert line(result, "01_wide.before").worth == line(result, "01_wide.after").worth == 5
    assert (result.worth, result.percent) == (120, 100)


def test_an_answer_from_before_it_was_left_out_still_counts(topic: Topic, tmp_path: Path) -> None:
    """A session that was kept by an earlier workbook has an answer there."""
    path = tmp_path / "s.json"
    kept = play(topic, path, Candidate(good(topic), WRITES))
    now = kept.answer("00_naive.now")
    assert now is not None
    kept.answers.append(msgspec.structs.replace(now, step="01_wide.before"))
    result = scored(topic, kept)
    assert line(result, "01_wide.before").earned == line(result, "01_wide.after").earned == 5


def test_who_runs_ahead_is_not_held_up(topic: Topic, tmp_path: Path) -> None:
    candidate = Candidate(good(topic), {"00_naive.code": [WIDE]})
    result = scored(topic, play(topic, tmp_path / "s.json", candidate))
    place = STEPS.index("00_naive.code") + 1
    assert candidate.asked == [*STEPS[:place], "00_naive.now", *STEPS[STEPS.index("01_wide.limits") :]]
    assert (
        "Your kernel is already version 2. What limits version 1, and what comes next, is not asked and not counted; "
        "version 2 counts as written."
    ) in " ".join(candidate.read)
    assert line(result, "01_wide.code").earned == 20
    assert result.earned == result.asked - 10  # the ratio of that version is 128, and 32 was said
    assert result.worth == result.asked


def test_time_runs_out(topic: Topic, tmp_path: Path) -> None:
    # Up to 29:10, with three seconds for the opening's probes; the next answer is within the minute of grace.
    seconds = Seconds(opening=597, **{"00_naive_code": 1150, "00_naive_limits": 79})
    candidate = Candidate(good(topic), WRITES, waits=seconds.wait)
    result = scored(topic, play(topic, tmp_path / "s.json", candidate, seconds=seconds))
    assert candidate.asked == STEPS[: STEPS.index("00_naive.limits") + 1]
    assert ": **Time is up.**" in candidate.read
    assert line(result, "00_naive.limits").earned == 0  # there was no time to check it
    assert line(result, "00_naive.limits").points[0].unasked == "not asked"
    assert line(result, "00_naive.next").state == "unasked"
    assert result.earned == 40
    assert result.used_s == 600 + 1150 + 79


def test_what_comes_too_late_does_not_count(topic: Topic, tmp_path: Path) -> None:
    seconds = Seconds(opening=1800 + 61)
    result = scored(
        topic, play(topic, tmp_path / "s.json", Candidate(good(topic), waits=seconds.wait), seconds=seconds)
    )
    assert line(result, "opening").state == "late"
    assert result.earned == 0


def test_a_version_that_comes_too_late_earns_nothing_for_later_ones(topic: Topic, tmp_path: Path) -> None:
    seconds = Seconds(**{"00_naive_code": 1800 + 61})
    candidate = Candidate(good(topic), {"00_naive.code": [WIDE]}, waits=seconds.wait)
    result = scored(topic, play(topic, tmp_path / "s.json", candidate, seconds=seconds))
    assert line(result, "00_naive.code").state == "late"
    assert line(result, "01_wide.code").earned == 0


def test_without_a_limit_time_never_runs_out(topic: Topic, tmp_path: Path) -> None:
    seconds = Seconds(opening=1e6)
    candidate = Candidate(good(topic), WRITES, waits=seconds.wait)
    assert scored(topic, play(topic, tmp_path / "s.json", candidate, 0, seconds)).percent == 100


def test_the_clock_stands_still_while_the_judge_works_and_the_candidate_reads(
    topic: Topic, tmp_path: Path
) -> None:
    seconds = Seconds()

    class Slow(Judge):
        def grade(self, topic: Topic, file: Path, progress: Progress) -> Grade:
            seconds.now += 500
            return super().grade(topic, file, progress)

    class Reads(Candidate):
        def rate(self, answer: str, said: str) -> Do:
            seconds.now += 500
            return super().rate(answer, said)

    kept = begin(read_interview(topic), tmp_path / "s.cu", SEED)
    candidate = Reads(good(topic), WRITES, waits=seconds.wait)
    sit(lambda asks: Conversation(topic, asks).run(), kept, tmp_path / "s.json", candidate, Slow(), seconds)
    assert kept.elapsed_s == len(STEPS)


def test_how_a_round_went_is_told_after_it(topic: Topic, tmp_path: Path) -> None:
    """And of the opening at the end: its points would tell what the versions are."""
    told: list[tuple[str, int]] = []

    class Listens(Candidate):
        def checked(self, title: str, points: Any) -> None:
            told.append((title, len(self.asked)))

    play(topic, tmp_path / "s.json", Listens(good(topic), WRITES))
    assert told == [
        ("Version 1 of 2, looked back at", STEPS.index("01_wide.after")),
        ("Version 2 of 2, looked back at", STEPS.index("follow_up.0")),
        ("How you began", len(STEPS)),
    ]


def test_own_ratings_of_prose_are_kept_apart(topic: Topic, tmp_path: Path) -> None:
    result = scored(topic, play(topic, tmp_path / "s.json", Candidate(TALKS, rates=1)))
    assert line(result, "opening").rated == 1
    assert line(result, "00_naive.next").rated == 1
    assert result.earned == 0


def test_a_look_back_that_was_broken_off_comes_again(topic: Topic, tmp_path: Path) -> None:
    path = tmp_path / "s.json"

    class Leaves(Candidate):
        def rate(self, answer: str, said: str) -> Do:
            raise KeyboardInterrupt

    with pytest.raises(BrokenOff):
        play(topic, path, Leaves(good(topic), WRITES))
    again = Candidate(good(topic), WRITES, rates=1)
    kept = play(topic, path, again)
    assert line(scored(topic, kept), "00_naive.next").rated == 1
    assert next(title for title, _ in again.looked_back) == "Version 1 of 2, looked back at"


def test_there_is_no_way_back_past_a_look_back(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    with pytest.raises(BrokenOff):
        ask(root, path, Candidate({"copies": "skip"}, leaves_at="copies.follow_up"))
    again = Candidate({"copies.follow_up": ["back", "So."]})
    kept = ask(root, path, again)
    assert any("You cannot go back" in text for text in again.read)
    assert kept.over


@pytest.mark.parametrize(
    ("share", "verdict"), [(1, "strong hire"), (0.7, "hire"), (0.69, "lean no hire"), (0, "no hire")]
)
def test_the_verdict_follows_the_rubric(share: float, verdict: str) -> None:
    assert card.verdict(share) == verdict


def test_an_unchanged_file_is_not_graded(topic: Topic, tmp_path: Path) -> None:
    candidate = Candidate({}, {"00_naive.code": [unwritten(topic), WRONG, WRONG, NAIVE]})
    play(topic, tmp_path / "s.json", candidate)
    assert len(candidate.grades) == 2
    assert sum("has not changed" in text for text in candidate.read) == 2


def test_the_candidate_begins_with_a_signature_and_how_it_is_launched(topic: Topic, tmp_path: Path) -> None:
    with pytest.raises(BrokenOff):
        play(topic, tmp_path / "s.json", Candidate({}, leaves_at="00_naive.code"))
    assert (tmp_path / "s.cu").read_text() == unwritten(topic)


@pytest.mark.parametrize("name", sorted(topics.discover()))
def test_of_a_starter_nothing_is_left_that_computes(name: str, tmp_path: Path) -> None:
    topic = topics.load(name)
    begun, starter = unwritten(topic), topic.starter.read_text()
    head, _, _ = begun.partition("    // Your kernel." if topic.suffix == ".cu" else "        pass")
    assert starter.startswith(head)
    assert "TODO" in starter
    assert "TODO" not in begun
    file = tmp_path / f"{name}{topic.suffix}"
    file.write_text(begun)
    assert topic.parse(file)


def test_a_session_survives_its_file(topic: Topic, tmp_path: Path) -> None:
    kept = play(topic, tmp_path / "s.json", Candidate(good(topic), WRITES))
    assert session.load(tmp_path / "s.json") == kept
    assert not list(tmp_path.glob("*.new"))


@pytest.mark.parametrize("data", ["{", '{"kind": "interview"}', '["a"]', "\xff"])
def test_what_is_no_session_is_refused(tmp_path: Path, data: str) -> None:
    (tmp_path / "s.json").write_bytes(data.encode("latin-1"))
    with pytest.raises(WarpladderError, match="no session"):
        session.load(tmp_path / "s.json")


def test_cards_go_to_json(topic: Topic, tmp_path: Path) -> None:
    result = scored(topic, play(topic, tmp_path / "s.json", Candidate(good(topic), WRITES)))
    found = msgspec.json.decode(card.to_json(result))
    assert found["schema"] == "warpladder/card/4"
    assert found["earned"] == found["worth"] == result.worth
    assert len(found["sections"]) == 3
    assert {field.name for field in dataclasses.fields(card.Card)} == set(found)


# ---- the quiz ----------------------------------------------------------------------------------------------


def ask(root: Path, path: Path, candidate: Candidate, seed: int = 1, kernels: bool = False) -> Session:
    """A quiz of the one question."""
    found = bank.discover(root)
    kept = session.load(path) if path.is_file() else quiz.begin(list(found.values()), seed, kernels=kernels)
    ladders = topics.discover(root)
    return sit(lambda asks: quiz.Quiz(found, ladders, asks).run(), kept, path, candidate, Judge(), Seconds())


def test_a_quiz_asks_in_words_checks_them_and_asks_for_kernels(root: Path, tmp_path: Path) -> None:
    found = bank.discover(root)
    knows = Good(found["copies"], {"copies": TALKS["opening"]}, seed=1)
    candidate = Candidate(knows, {"copies.copy.01_wide": [NAIVE, WIDE]}, rates=1)
    kept = ask(root, tmp_path / "q.json", candidate, kernels=True)
    result = card.of_quiz(found, kept)
    assert candidate.asked == [
        *steps("copies", 3),
        "copies.copy.01_wide",
        "copies.copy.01_wide",
        "copies.follow_up",
    ]
    assert result.percent == 100
    assert result.worth == 35
    assert result.follow_ups[0].self_scored is None  # nothing was said to it
    assert "Further questions: you answered 0 of 1. Not in the score." in shown(result)
    assert [title for title, _ in candidate.looked_back] == ["A copy"]


def test_a_quiz_broken_off_goes_on_with_the_same_numbers(root: Path, tmp_path: Path) -> None:
    path, says = tmp_path / "q.json", {"copies": TALKS["opening"], "copies.0.probe": "1"}
    with pytest.raises(BrokenOff):
        ask(root, path, Candidate(says, leaves_at="copies.0.probe"), seed=4)
    again, alone = Candidate(says), Candidate(says)
    ask(root, path, again)
    ask(root, tmp_path / "other.json", alone, seed=4)
    assert again.asked[0] == "copies.0.probe"
    assert again.texts["copies.0.probe"] == alone.texts["copies.0.probe"]


def test_a_quiz_that_is_skipped_checks_nothing(root: Path, tmp_path: Path) -> None:
    candidate = Candidate({"copies": "skip"})
    result = card.of_quiz(bank.discover(root), ask(root, tmp_path / "q.json", candidate))
    assert candidate.asked == ["copies", "copies.follow_up"]
    assert result.percent == 0


def test_questions_are_chosen(root: Path) -> None:
    found = bank.discover()
    chosen = quiz.choose(found, ["hpc-15", "thread-hierarchy", "occupancy"], None, 0, None)
    assert [item.name for item in chosen] == ["occupancy", "thread-hierarchy"]
    assert all("gemm" in item.topics for item in quiz.choose(found, [], "gemm", 0, 3))
    draws = [[item.name for item in quiz.choose(found, [], None, seed, 5)] for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    assert len(set(draws[0])) == 5
    for names, topic in ((["hpc-99"], None), ([], "knitting")):
        with pytest.raises(WarpladderError, match=r"no question"):
            quiz.choose(found, names, topic, 0, None)


def test_lines_that_were_typed_before_ctrl_c_are_there_again(topic: Topic, tmp_path: Path) -> None:
    path, seen = tmp_path / "s.json", []

    class Leaves(Candidate):
        def talk(self, asked: Prompt) -> str:
            seen.append(asked.typed)
            if len(seen) == 1:
                raise KeyboardInterrupt
            return super().talk(asked)

        def begun(self) -> str:
            return "It is bound by"

    with pytest.raises(BrokenOff):
        play(topic, path, Leaves({}))
    play(topic, path, Leaves({}))
    assert seen[:2] == ["", "It is bound by"]
    assert seen[2] == ""


def test_a_session_that_another_program_goes_on_with_is_not_written_over(
    topic: Topic, tmp_path: Path
) -> None:
    path = tmp_path / "s.json"

    class Twice(Candidate):
        def talk(self, asked: Prompt) -> str:
            if asked.step == "opening":
                other = session.load(path)
                other.title = "the other's"
                session.save(other, path)
            return super().talk(asked)

    with pytest.raises(WarpladderError, match="another program has written this session"):
        play(topic, path, Twice(TALKS))
    assert session.load(path).title == "the other's"


def test_the_signs_of_a_chinese_keyboard_are_understood(topic: Topic, tmp_path: Path) -> None:
    knows = good(topic)
    typed = {"opening": ["？", TALKS["opening"]], "00_naive.now": ["３２"], "01_wide.after": ["跳过"]}

    def says(asked: Prompt) -> str:
        waiting = typed.get(asked.step)
        return waiting.pop(0) if waiting else knows(asked)

    candidate = Candidate(says, WRITES)
    result = scored(topic, play(topic, tmp_path / "s.json", candidate))
    assert candidate.asked[:2] == ["opening", "opening"]
    assert line(result, "00_naive.now").earned == 10
    assert line(result, "01_wide.after").earned == 0
