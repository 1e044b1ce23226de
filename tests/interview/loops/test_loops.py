"""A day of interviews: drawn by style and level, asked part by part, and whole after any number of deaths."""

import itertools
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import little_interview
import pytest
from scripted_candidate import Candidate

from grader.errors import WarpladderError
from grader.interview import bank, rounds, session
from grader.interview.drills.formats import FORMATS
from grader.interview.driving import BrokenOff, drive
from grader.interview.loops import loop, plan
from grader.interview.loops.library import Library
from grader.interview.loops.loop import Loop
from grader.interview.prompts import Prompt
from grader.judge.runners.pool import Progress
from grader.results import Grade
from grader.workbook import topics
from grader.workbook.content import content_root
from grader.workbook.expressions import Number
from grader.workbook.topic import Topic

STYLE = """\
title = "Copy engineer"
about = "Copies."

[[part]]
title = "Screen"
formats = ["quiz"]
minutes = 20
count = 3
topics = ["copy"]

[[part]]
title = "Sums"
formats = ["estimate"]
minutes = 10

[[part]]
title = "Coding"
levels = ["mid", "senior"]
formats = ["interview"]
minutes = 30
topics = ["copy"]

[[part]]
title = "Design"
formats = ["design"]
minutes = 40
topics = ["a topic without any"]
"""


class Judge:
    """Counts as the workbook's kernels do, and has nothing to grade."""

    def grade(self, topic: Topic, file: Path, progress: Progress) -> Grade:
        raise AssertionError

    def values(self, topic: Topic, file: Path) -> Mapping[str, Number]:
        return {"N": 4096, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 128}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    root = little_interview.write(tmp_path / "workbook")
    copy = topics.load("copy", root)
    estimates = {
        name: each for name, each in FORMATS["estimate"].discover().items() if name == "bandwidth-of-a-copy"
    }
    return Library(
        {"copy": copy},
        bank.discover(root),
        {"copy": rounds.read_interview(copy)},
        FORMATS,
        {"estimate": estimates},
    )


@pytest.fixture
def style(tmp_path: Path) -> plan.Style:
    path = tmp_path / "copies.toml"
    path.write_text(STYLE)
    return plan.read_style(path)


def day(library: Library, style: plan.Style, folder: Path) -> Loop:
    return Loop.begin(folder, loop.draw(style, "senior", 7, library), library)


def answers(folder: Path) -> dict[str, list[Any]]:
    """What is kept on disk, by part."""
    return {path.name: session.load(path).answers for path in sorted(folder.glob("?-*.json"))}


# ---- what is drawn -----------------------------------------------------------------------------------------


def test_a_day_has_the_parts_of_its_level_for_which_there_is_something(
    library: Library, style: plan.Style
) -> None:
    senior = loop.draw(style, "senior", 7, library)
    assert [(part.title, part.format, part.minutes, part.names) for part in senior.parts] == [
        ("Screen", "quiz", 20, ["copies"]),
        ("Sums", "estimate", 10, ["bandwidth-of-a-copy"]),
        ("Coding", "interview", 30, ["copy"]),
    ]
    assert [part.title for part in loop.draw(style, "staff", 7, library).parts] == ["Screen", "Sums"]


def test_the_same_seed_draws_the_same_day() -> None:
    root = content_root()
    library = Library({}, bank.discover(root), {}, FORMATS, {})
    kernels = plan.find(plan.discover(), "kernels")
    drawn = [loop.draw(kernels, "mid", seed, library).parts for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


@pytest.mark.parametrize("role", ["kernels", "inference"])
def test_a_screen_asks_what_its_role_is_asked_at_the_level_or_the_one_below(role: str) -> None:
    questions = bank.discover()
    library = Library({}, questions, {}, FORMATS, {})
    style = plan.find(plan.discover(), role)
    near = {each.name for each in questions.values() if each.is_for(role) and each.level in ("mid", "senior")}
    for seed in range(20):
        screen = loop.draw(style, "senior", seed, library).parts[0]
        assert (screen.format, len(screen.names)) == ("quiz", 3)
        assert set(screen.names) <= near


# ---- how it goes -------------------------------------------------------------------------------------------


def whole(begun: Loop, candidate: Candidate) -> None:
    """All parts that are left."""
    for stage in begun.stages():
        if not stage.over:
            drive(begun.sitting(stage, Judge()), candidate)


def test_a_day_from_the_first_part_to_the_verdict(
    library: Library, style: plan.Style, tmp_path: Path
) -> None:
    begun = day(library, style, tmp_path / "loop-1")
    whole(begun, Candidate(says))
    assert [stage.planned.title for stage in begun.stages()] == ["Screen", "Sums", "Coding"]
    assert all(stage.over for stage in begun.stages())
    cards = begun.cards()
    assert 0 <= loop.share(cards) <= 1
    assert loop.verdict_of(cards) in ("strong hire", "hire", "lean no hire", "no hire")
    before = answers(tmp_path / "loop-1")
    whole(Loop(tmp_path / "loop-1", library), Candidate(says))  # nothing is left
    assert answers(tmp_path / "loop-1") == before


def test_a_part_counts_by_its_minutes_and_one_that_was_not_begun_as_nothing(
    library: Library, style: plan.Style, tmp_path: Path
) -> None:
    begun = day(library, style, tmp_path / "loop-1")
    cards = begun.cards()
    assert (loop.share(cards), loop.verdict_of(cards)) == (0.0, "no hire")
    with pytest.raises(BrokenOff):
        whole(begun, Candidate(says, leaves_at="opening"))
    assert [kept.kind for kept, _ in begun.broken_off()] == ["interview"]
    percents = [0.0 if card is None else card.percent for _, card in begun.cards()]
    expected = (20 * percents[0] + 10 * percents[1] + 30 * percents[2]) / 60 / 100
    assert loop.share(begun.cards()) == pytest.approx(expected)


def says(asked: Prompt) -> str:
    """Something to everything; each answer can be read."""
    if asked.step in ("copies", "opening") or asked.step.endswith((".limits", ".next")):
        return "The bandwidth: every byte is read once."
    if asked.options:
        return "a" if "order" not in asked.wanted else "".join("abcdef"[: len(asked.options)])
    return "1" if asked.wanted else ""


# ---- whatever kills it -------------------------------------------------------------------------------------


class Killed(BaseException):
    """What no part of the program catches, as a signal that kills at once."""


class Mortal(Candidate):
    """Dies at the so-many-th time that something is asked or shown."""

    def __init__(self, dies_at: int) -> None:
        super().__init__(says)
        self.left = dies_at
        self.answered = 0

    def _moment(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed

    def talk(self, asked: Prompt) -> str:
        self._moment()
        said = super().talk(asked)
        self.answered += 1
        return said

    def line(self, asked: Prompt) -> str:
        self._moment()
        said = super().line(asked)
        self.answered += 1
        return said

    def code(self, asked: Prompt) -> session.Do:
        self._moment()
        self.answered += 1
        return super().code(asked)

    def say(self, text: str, title: str = "") -> None:
        self._moment()

    def checked(self, title: str, points: Any) -> None:
        self._moment()

    def figured(self, figure: session.Figure) -> None:
        self._moment()


@pytest.mark.parametrize("seed", range(5))
def test_however_often_it_is_killed_no_answer_is_lost(
    library: Library, style: plan.Style, tmp_path: Path, seed: int
) -> None:
    """Killed again and again, after up to nine things that were asked or shown."""
    draw = random.Random(seed)
    folder = tmp_path / "loop-1"
    day(library, style, folder)
    before: dict[str, list[Any]] = {}
    for death in itertools.count():
        candidate = Mortal(draw.randrange(10))
        kept_before = sum(map(len, answers(folder).values()))
        try:
            whole(Loop(folder, library), candidate)
        except Killed:
            now = answers(folder)
            assert sum(map(len, now.values())) == kept_before + candidate.answered
            for name, kept in before.items():
                assert [answer.step for answer in now[name][: len(kept)]] == [answer.step for answer in kept]
            before = now
            assert death < 500
            continue
        break
    steps = [answer.step for kept in answers(folder).values() for answer in kept]
    assert len(steps) == len(set(steps))
    other = tmp_path / "loop-2"
    whole(day(library, style, other), Candidate(says))
    assert {name: len(kept) for name, kept in answers(folder).items()} == {
        name: len(kept) for name, kept in answers(other).items()
    }


def test_a_death_before_the_first_answer_leaves_the_day_as_it_was_drawn(
    library: Library, style: plan.Style, tmp_path: Path
) -> None:
    begun = day(library, style, tmp_path / "loop-1")
    with pytest.raises(Killed):
        whole(begun, Mortal(0))
    assert Loop(tmp_path / "loop-1", library).drawn == begun.drawn


# ---- what cannot be gone on with ---------------------------------------------------------------------------


def test_a_folder_that_holds_no_day_is_an_error(library: Library, tmp_path: Path) -> None:
    with pytest.raises(WarpladderError, match="cannot be read"):
        Loop(tmp_path, library)
    (tmp_path / "loop.json").write_text("{}")
    with pytest.raises(WarpladderError, match="no day of interviews"):
        Loop(tmp_path, library)


def test_a_question_that_is_gone_since_is_an_error_that_names_it(
    library: Library, style: plan.Style, tmp_path: Path
) -> None:
    day(library, style, tmp_path / "loop-1")
    without = Library(library.topics, {}, library.interviews, FORMATS, library.drills)
    with pytest.raises(WarpladderError, match="no quiz `copies` any more"):
        Loop(tmp_path / "loop-1", without)


# ---- the plans themselves ----------------------------------------------------------------------------------


def test_every_style_names_what_there_is_and_has_a_day_for_every_level() -> None:
    root = content_root()
    names = [path.parent.name for path in (root / "lessons").glob("*/topic.toml")]
    assert list(plan.check(root, names)) == []
    assert set(plan.discover()) >= {"kernels", "inference", "hpc"}


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('formats = ["quiz"]', 'formats = ["quizz"]', "no format `quizz`, did you mean `quiz`"),
        ('formats = ["quiz"]', "", "`formats` is missing"),
        ("minutes = 20", "minutes = 2000", "`minutes` is 2000"),
        ("count = 3", "count = 0", "`count` is 0"),
        ('levels = ["mid", "senior"]', 'levels = ["wizard"]', "no level"),
        ('topics = ["copy"]', 'topic = ["copy"]', "unknown key `topic`"),
    ],
)
def test_a_broken_style_is_an_error_with_its_line(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = tmp_path / "copies.toml"
    path.write_text(STYLE.replace(old, new, 1))
    with pytest.raises(WarpladderError, match=complaint) as refused:
        plan.read_style(path)
    assert refused.value.line


def test_a_style_that_names_what_there_is_not_is_found(tmp_path: Path) -> None:
    root = little_interview.write(tmp_path)
    (root / "lessons" / "loops").mkdir()
    (root / "lessons" / "loops" / "copies.toml").write_text(
        STYLE.replace('topics = ["copy"]', 'names = ["copys"]', 1)
    )
    found = [str(problem) for problem in plan.check(root, ["copy"])]
    assert "no question `copys`, did you mean `copies`" in found[0]
    assert "no topic `a topic without any`" in found[1]
