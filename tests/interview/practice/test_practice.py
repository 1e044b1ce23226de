"""What a learner's history gets from sessions on the little topic, and what is asked again."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import little_interview
import msgspec
import pytest
from knowing import Knowing
from scripted_candidate import Candidate, sit

from grader.history.outcomes import Outcome
from grader.history.schedule import Schedule
from grader.interview import bank, card, quiz, rounds, session
from grader.interview.drills.formats import FORMATS
from grader.interview.driving import BrokenOff
from grader.interview.practice import fresh, recall, recording
from grader.interview.practice.catalogue import Catalogue
from grader.interview.probes.posing import pose
from grader.interview.prompts import Prompt
from grader.interview.session import Code, Figure, Session
from grader.workbook import topics

SEED = 7
STARTED = datetime(2026, 11, 2, 12, tzinfo=UTC)
TERSE = "Bandwidth; read once; 8 N bytes."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return little_interview.write(tmp_path)


@pytest.fixture
def questions(root: Path) -> dict[str, bank.Question]:
    return bank.discover(root)


@pytest.fixture
def catalogue(root: Path, questions: Mapping[str, bank.Question]) -> Catalogue:
    interview = rounds.read_interview(topics.load("copy", root))
    (drill,) = [
        each for each in FORMATS["estimate"].discover().values() if each.name == "bandwidth-of-a-copy"
    ]
    return Catalogue(questions.values(), [interview], {"estimate": [drill]})


@pytest.fixture
def knows(questions: Mapping[str, bank.Question]) -> Knowing:
    return Knowing(questions["copies"].probes, SEED)


def asked_in_a_quiz(
    questions: Mapping[str, bank.Question], tmp_path: Path, knows: Knowing, says: str, wrong: str = ""
) -> Session:
    """A quiz on the little question, answered in prose by `says`; the first probe of point `wrong` is wrong."""

    def answers(asked: Prompt) -> str:
        if asked.step == "copies":
            return says
        if asked.step == f"copies.{wrong}.probe":
            right = knows(asked)
            return next(typed for typed in ("a", "b") if typed != right) if asked.options else "2"
        return knows(asked) if asked.step.endswith(".probe") else ""

    kept = quiz.begin([questions["copies"]], SEED)
    kept.started = STARTED.isoformat()
    tmp_path.mkdir(exist_ok=True)
    path = tmp_path / "quiz.json"
    sit(lambda asks: quiz.Quiz(questions, {}, asks).run(), kept, path, Candidate(answers))
    return kept


def by_item(outcomes: list[Outcome]) -> dict[str, Outcome]:
    return {found.item: found for found in outcomes}


# ---- what there is to ask ----------------------------------------------------------------------------------


def test_every_probe_is_an_item_and_so_is_what_the_judge_checks(catalogue: Catalogue) -> None:
    assert {"copies/bytes_moved", "copies/touched", "copies/first_line", "copies/larger"} <= set(
        catalogue.askable
    )
    assert {"copy/many", "copy/stop"} <= set(catalogue.askable)
    with_all = set(catalogue.items) - set(catalogue.askable)
    assert {"copy/00_naive.code", "copy/00_naive.now", "copy/01_wide.after"} <= with_all
    assert any(key.startswith("estimate/bandwidth-of-a-copy/") for key in with_all)
    assert not any(catalogue.items[key].alone for key in with_all)


def test_an_item_knows_where_it_belongs(catalogue: Catalogue) -> None:
    question, limit = catalogue.items["copies/touched"], catalogue.items["copy/band"]
    assert (question.level, question.topics, question.format) == ("mid", ("copy",), "quiz")
    assert question.rungs == ("copy/01_wide",)  # of its [[kernel]]
    assert (limit.format, limit.rungs, limit.point) == (
        "interview", ("copy/01_wide",), "The bandwidth limits it.",
    )  # fmt: skip


def test_only_questions_of_the_bank_are_introduced(catalogue: Catalogue) -> None:
    day = catalogue.day(Schedule([]), "staff", None, STARTED, 50)
    assert {item.name for item in day.new} == {"copies"}
    assert catalogue.day(Schedule([]), "junior", None, STARTED, 50).new == []
    assert catalogue.day(Schedule([]), "staff", "gemm", STARTED, 50).new == []


def test_what_was_asked_today_is_not_drawn_again(
    questions: Mapping[str, bank.Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    def items(seed: int) -> set[str]:
        return set(fresh.items_of_quiz([questions["copies"]], seed))

    first = items(SEED)
    assert all(name.startswith("copies/") for name in first)
    other = {name for seed in range(50) for name in items(seed)} - first
    monkeypatch.setattr(fresh, "_asked_lately", lambda: first)
    drawn = items(fresh.fresh_seed(items))
    assert drawn & other == other  # wherever a point has another probe


# ---- what a session adds -----------------------------------------------------------------------------------


def test_who_knows_all_is_right_in_every_item(
    questions: Mapping[str, bank.Question], catalogue: Catalogue, tmp_path: Path, knows: Knowing
) -> None:
    kept = asked_in_a_quiz(questions, tmp_path, knows, TERSE)
    found = recording.outcomes(kept, catalogue.items)
    assert len(found) == 3  # one probe a point
    assert {each.share for each in found} == {1.0}
    assert {each.rated for each in found} == {0.5}  # as the candidate rates it
    assert {each.session for each in found} == {recording.id_of(kept)}
    assert all(each.when >= STARTED for each in found)


def test_what_is_said_changes_no_share(
    questions: Mapping[str, bank.Question], catalogue: Catalogue, tmp_path: Path, knows: Knowing
) -> None:
    said = ("", TERSE, "A copy computes nothing, and its time is that of its arithmetic.")
    found = [
        recording.outcomes(asked_in_a_quiz(questions, tmp_path / str(n), knows, text), catalogue.items)
        for n, text in enumerate(said)
    ]
    assert [{each.item: each.share for each in one} for one in found] == [
        dict.fromkeys(by_item(found[0]), 1.0)
    ] * 3


def test_a_wrong_answer_is_to_be_asked_again_soon(
    questions: Mapping[str, bank.Question], catalogue: Catalogue, tmp_path: Path, knows: Knowing
) -> None:
    kept = asked_in_a_quiz(questions, tmp_path, knows, TERSE, wrong="1")
    shares = [each.share for each in recording.outcomes(kept, catalogue.items)]
    assert sum(share <= 0 for share in shares) == 1


def test_the_same_session_gives_the_same_outcomes_whenever_it_is_looked_at(
    questions: Mapping[str, bank.Question], catalogue: Catalogue, tmp_path: Path, knows: Knowing
) -> None:
    kept = asked_in_a_quiz(questions, tmp_path, knows, TERSE)
    again = session.load(tmp_path / "quiz.json")
    assert recording.outcomes(again, catalogue.items) == recording.outcomes(kept, catalogue.items)
    scored = card.of_quiz(questions, kept)
    assert recording.sitting(again, scored) == recording.sitting(kept, scored)
    assert (recording.sitting(kept, scored).share, recording.sitting(kept, scored).subject) == (1.0, "copies")


def interview_session(*answers: Code | Figure) -> Session:
    return Session(
        kind="interview", title="A copy", topic="copy", questions=["copy"], minutes=30,
        started=STARTED.isoformat(), seed=SEED, kernel_file="copy.cu", elapsed_s=90, answers=list(answers),
    )  # fmt: skip


CODE = Code(
    "00_naive.code", "Write it.", "copy", "00_naive", "//", "pass", None, "00_naive", 1.0, 1, False, None, None, 60.0,
)  # fmt: skip
FIGURE = Figure("00_naive.now", "How many?", "floats", "32", 32.0, 32.0, True, "", "own", 30.0)


def test_code_and_counted_ratios_are_outcomes_too(catalogue: Catalogue) -> None:
    found = by_item(recording.outcomes(interview_session(CODE, FIGURE), catalogue.items))
    assert {key: (each.share, each.rated) for key, each in found.items()} == {
        "copy/00_naive.code": (1.0, None),
        "copy/00_naive.now": (1.0, None),
    }
    assert found["copy/00_naive.now"].when == STARTED + timedelta(seconds=90)


def test_a_mended_bug_is_an_outcome_of_its_hunt() -> None:
    hunts = FORMATS["review"].discover()
    name = next(iter(hunts))
    items = Catalogue(drills={"review": hunts.values()}).items
    kept = interview_session(msgspec.structs.replace(CODE, step=f"{name}.mend", share=0.5))
    kept.kind, kept.topic = "review", ""
    (found,) = recording.outcomes(kept, items)
    assert (found.item, found.share, found.format) == (f"review/{name}/mend", 0.5, "review")
    assert items[found.item].command == f"ladder review {name}"


def test_what_came_too_late_or_was_never_counted_is_no_outcome(catalogue: Catalogue) -> None:
    late = msgspec.structs.replace(CODE, late=True)
    unsettled = msgspec.structs.replace(FIGURE, answer=None, right=None)
    assert recording.outcomes(interview_session(late, unsettled), catalogue.items) == []


def test_what_the_workbook_no_longer_asks_is_no_outcome(
    questions: Mapping[str, bank.Question], tmp_path: Path, knows: Knowing
) -> None:
    kept = asked_in_a_quiz(questions, tmp_path, knows, TERSE)
    assert recording.outcomes(kept, {}) == []


# ---- what is asked again -----------------------------------------------------------------------------------


def test_items_are_asked_one_by_one_with_what_is_right_after_each(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    keys = ["copies/touched", "copy/stop", "copies/first_line"]
    kept = recall.begin([catalogue.items[key] for key in keys], SEED)
    candidate = Candidate({key: pose(catalogue.askable[key].probe, f"{SEED} {key}").answer for key in keys})
    sit(lambda asks: recall.Recall(catalogue.askable, asks).run(), kept, tmp_path / "today.json", candidate)
    assert kept.over
    assert candidate.asked == keys
    assert [points[0].text for _, points in candidate.looked_back] == [
        catalogue.items[key].point for key in keys
    ]
    found = recording.outcomes(kept, catalogue.items)
    assert [(each.item, each.share, each.rated, each.format) for each in found] == [
        ("copies/touched", 1.0, None, "quiz"),
        ("copy/stop", 1.0, None, "interview"),
        ("copies/first_line", 1.0, None, "quiz"),
    ]
    assert recording.day(kept, found).share == 1.0


def test_a_day_that_was_broken_off_goes_on_where_it_stood(catalogue: Catalogue, tmp_path: Path) -> None:
    keys, path = ["copies/touched", "copies/larger"], tmp_path / "today.json"
    kept = recall.begin([catalogue.items[key] for key in keys], SEED)
    with pytest.raises(BrokenOff):
        sit(
            lambda asks: recall.Recall(catalogue.askable, asks).run(),
            kept,
            path,
            Candidate({keys[0]: "a"}, leaves_at="copies/larger"),
        )
    again, candidate = session.load(path), Candidate({})
    sit(lambda asks: recall.Recall(catalogue.askable, asks).run(), again, path, candidate)
    assert candidate.asked == ["copies/larger"]
    assert [answer.step for answer in again.answers] == keys


def test_what_is_gone_since_is_not_asked(catalogue: Catalogue, tmp_path: Path) -> None:
    kept = recall.begin([catalogue.items["copies/touched"]], SEED)
    candidate = Candidate({})
    assert sit(lambda asks: recall.Recall({}, asks).run(), kept, tmp_path / "today.json", candidate).over
    assert candidate.asked == []


def test_a_drill_is_named_and_not_taken_apart(catalogue: Catalogue) -> None:
    (first, *_) = [key for key in catalogue.items if key.startswith("estimate/")]
    assert catalogue.items[first].command == "ladder estimate bandwidth-of-a-copy"
    assert first not in catalogue.askable


def test_a_kernel_of_an_interview_is_a_grade(catalogue: Catalogue, tmp_path: Path) -> None:
    kept = session.begin("interview", "Copy", ["copy"], SEED, topic="copy", kernel_file="mine.cu")
    kept.started = STARTED.isoformat()
    code = Code(
        "00_naive.code", "", "copy", "00_naive", "// x", "pass", None, "00_naive", 1.0, 1, False, {}, {}, 30.0
    )
    kept.answers = [code, msgspec.structs.replace(code, step="01_wide.code", verdict=None)]
    (found,) = recording.grades(kept)
    assert (found.topic, found.verdict, found.rung) == ("copy", "pass", "00_naive")
    assert found.file == str(Path("mine.cu").absolute())
    assert found.when == STARTED + timedelta(seconds=30)
