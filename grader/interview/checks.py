"""What has to be true of the bank and of the interviews, beyond what their loaders already refuse.

Each check yields its problems; nothing is printed or raised, and one broken entry does not hide the next.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.errors import WarpladderError
from grader.interview import bank, key_points, numbers, rounds
from grader.interview.bank import Entry, NumberQuestion, Question
from grader.interview.key_points import Point
from grader.workbook import units
from grader.workbook.topic import Topic

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)[^)]*\)")
_INCLUDE = re.compile(r"^```\{literalinclude\}\s+(\S+)", re.MULTILINE)


def check_bank(root: Path, topics: dict[str, Topic]) -> Iterator[WarpladderError]:
    """Problems of the questions below `root`; `topics` are all that can be read."""
    folder = root / "lessons" / bank.FOLDER
    for path in sorted(folder.glob("*.toml")):
        try:
            question = bank.read_question(path)
        except WarpladderError as error:
            yield error
        else:
            yield from check_question(question, topics)
    for path in sorted(folder.glob("*")):
        if path.is_file() and (
            path.suffix not in (".toml", ".py") or not path.with_suffix(".toml").is_file()
        ):
            remedy = "a question is <id>.toml, and <id>.py where it has numbers"
            yield WarpladderError("this file belongs to no question", file=path, remedy=remedy)


def check_question(question: Question, topics: dict[str, Topic]) -> Iterator[WarpladderError]:
    """Problems of one question: its answer, its links, its numbers over the whole draw, its rungs."""
    yield from _entry(question)
    for name in question.topics:
        if name not in topics:
            yield WarpladderError(f"`topics` names {name}, which is none", file=question.file)
    for number in question.numbers:
        yield from _computable(question, number)
    if not question.numbers and question.functions.is_file():
        yield WarpladderError("the question has no number, so nothing reads this", file=question.functions)
    for kernel in question.kernels:
        try:
            if kernel.topic not in topics:
                raise WarpladderError(f"there is no topic `{kernel.topic}`")
            topics[kernel.topic].rung(kernel.rung)
        except WarpladderError as error:
            yield WarpladderError(error.message, file=question.file, line=kernel.line, remedy=error.remedy)


def check_interview(topic: Topic) -> Iterator[WarpladderError]:
    """Problems of a topic's interview; none where it has no interview."""
    if not (topic.folder / rounds.FILE).is_file():
        return
    try:
        interview = rounds.read_interview(topic)
    except WarpladderError as error:
        yield error
        return
    yield from _entry(interview)
    for item in interview.rounds:
        asked = (*item.limits, *item.next)
        for point in _unsaid(item.answer, item.limits) + _unsaid(item.answer, item.next):
            yield _not_said(interview.file, point, "the round's `answer`")
        for point in asked:
            yield from _own_text(interview.file, point)


def check_links(file: Path, text: str) -> Iterator[WarpladderError]:
    """Links and included files of a Markdown text that lead nowhere on this disk."""
    for found in itertools.chain(_LINK.finditer(text), _INCLUDE.finditer(text)):
        target = found[1]
        if not is_external(target) and not resolves(file, target):
            line = text.count("\n", 0, found.start()) + 1
            yield WarpladderError(f"the link to {target} leads nowhere", file=file, line=line)


def external_links(file: Path, text: str) -> Iterator[tuple[str, int]]:
    """The http links of a file, each with its line: of Markdown, or of a question's sources."""
    for found in re.finditer(r"https?://[^\s)>\"'`]+", text):
        yield found[0].rstrip(".,;:!?"), text.count("\n", 0, found.start()) + 1


def is_external(target: str) -> bool:
    """Whether a link leads to the web."""
    return target.startswith(("http://", "https://"))


def resolves(file: Path, target: str) -> bool:
    """Whether a link that is a path leads to a file, seen from the file that has it."""
    path = target.partition("#")[0]
    return not path or (file.parent / path).exists()


def _entry(entry: Entry) -> Iterator[WarpladderError]:
    for point in _unsaid(entry.answer, entry.points):
        yield _not_said(entry.file, point, "`answer`")
    for point in entry.points:
        yield from _own_text(entry.file, point)
    for source in entry.sources:
        if not is_external(source.url) and not resolves(entry.file, source.url):
            message = f"the source {source.url} leads nowhere"
            yield WarpladderError(message, file=entry.file, line=source.line)
    yield from check_links(entry.file, entry.file.read_text(encoding="utf-8"))


def _unsaid(text: str, points: Sequence[Point]) -> list[Point]:
    """The points that a text does not explain."""
    return [
        point for point, how in zip(points, key_points.find(text, points), strict=True) if how != "explained"
    ]


def _not_said(file: Path, point: Point, where: str) -> WarpladderError:
    remedy = "say it there in a sentence, or add the words that it uses to the point's terms"
    return WarpladderError(f"{where} does not say: {point.text}", file=file, line=point.line, remedy=remedy)


def _own_text(file: Path, point: Point) -> Iterator[WarpladderError]:
    if key_points.find(point.text, [point]) == ["missing"]:
        message = "the point is not found in its own text"
        yield WarpladderError(message, file=file, line=point.line, remedy="add its words to the terms")


def _computable(question: Question, number: NumberQuestion) -> Iterator[WarpladderError]:
    """Every combination of the drawn parameters has an answer that can be shown, and not always the same."""
    count = math.prod(len(choices) for choices in number.draw.values())
    if count > numbers.MOST_DRAWS:
        message = f"`{number.id}` can be drawn in {count:,} ways; at most {numbers.MOST_DRAWS:,} are computed"
        yield WarpladderError(message, file=question.file, line=number.line)
        return
    answers: set[float] = set()
    for parameters in numbers.every_draw(number):
        try:
            drawn = numbers.compute(question, number, parameters)
        except WarpladderError as error:
            yield error
            return
        answers.add(drawn.answer)
        if not _can_be_typed(drawn.answer, number.tolerance):
            message = f"`{number.id}`: nobody types {drawn.answer!r} exactly, as for {dict(parameters)}"
            remedy = "set `tolerance` to 0.01 or so, or ask for a whole number"
            yield WarpladderError(message, file=question.file, line=number.line, remedy=remedy)
            return
    if count > 1 and len(answers) == 1:
        message = f"`{number.id}` has the same answer however it is drawn"
        yield WarpladderError(message, file=question.file, line=number.line)


def _can_be_typed(answer: float, tolerance: float) -> bool:
    """Whether an answer that is rounded as people round is right, or is a power of two, typed as 2^-24."""
    shown = numbers.read_number(units.compact(answer))
    return numbers.right(shown, answer, tolerance) or math.frexp(abs(answer))[0] == 0.5
