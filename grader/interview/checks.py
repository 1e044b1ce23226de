"""What has to be true of the bank and of the interviews, beyond what their loaders already refuse.

Each check yields its problems; nothing is printed or raised, and one broken entry does not hide the next.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.areas import INTERVIEW
from grader.errors import WarpladderError
from grader.interview import bank, rounds
from grader.interview.bank import Entry, Question
from grader.interview.drills.design import Design
from grader.interview.drills.drill import Drill, Format
from grader.interview.points import Point
from grader.interview.probes import posing
from grader.interview.probes.kinds import ChoiceProbe, NumberProbe, Probe
from grader.interview.probes.posing import Posed
from grader.interview.reading import Source
from grader.interview.rounds import Interview
from grader.judge.clean import Clean
from grader.workbook.content import record_file
from grader.workbook.expressions import nearest
from grader.workbook.topic import Topic

MOST_DRAWS = 20_000
"""So many combinations of parameters are computed at the most."""

LONGER = 1.25
"""By so much the right statement of a choice may be longer than the longest wrong one."""

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)[^)]*\)")
_QUOTED = re.compile(r"""(?<=["'])\w+(?=["'])""")
_INCLUDE = re.compile(r"^```\{literalinclude\}\s+(\S+)", re.MULTILINE)


def check_bank(root: Path, topics: dict[str, Topic], clean: Clean) -> Iterator[WarpladderError]:
    """Problems of the questions below `root`; `topics` are all that can be read."""
    folder = root / "lessons" / bank.FOLDER
    questions = []
    for path in sorted(folder.glob("*.toml")):
        try:
            questions.append(bank.read_question(path))
        except WarpladderError as error:
            yield error
    names = {question.name for question in questions}
    for question in questions:
        yield from check_question(question, topics, clean)
        for name in question.builds_on:
            if name not in names:
                message = f"`builds_on` names {name}, which is no question{nearest(name, names)}"
                yield WarpladderError(message, file=question.file)
    for path in sorted(folder.glob("*")):
        if path.is_file() and (
            path.suffix not in (".toml", ".py") or not path.with_suffix(".toml").is_file()
        ):
            remedy = "a question is <name>.toml, and <name>.py where its probes are computed"
            yield WarpladderError("this file belongs to no question", file=path, remedy=remedy)


def check_question(question: Question, topics: dict[str, Topic], clean: Clean) -> Iterator[WarpladderError]:
    """Problems of one question: its answer, its links, its probes over the whole draw, its rungs."""
    files = decided_by(question.file, topics)
    computed = _probes(question.points)
    yield from clean.problems("question", INTERVIEW, files, computed)
    yield from _sources(question.file, question.sources)
    yield from _names(question)
    for name in question.topics:
        if name not in topics:
            yield WarpladderError(f"`topics` names {name}, which is none", file=question.file)
    for kernel in question.kernels:
        try:
            if kernel.topic not in topics:
                raise WarpladderError(f"there is no topic `{kernel.topic}`")
            topics[kernel.topic].rung(kernel.rung)
        except WarpladderError as error:
            yield WarpladderError(error.message, file=question.file, line=kernel.line, remedy=error.remedy)


def check_interview(topic: Topic, topics: dict[str, Topic], clean: Clean) -> Iterator[WarpladderError]:
    """Problems of a topic's interview; none where it has no interview."""
    if not (topic.folder / rounds.FILE).is_file():
        return
    try:
        interview = rounds.read_interview(topic)
    except WarpladderError as error:
        yield error
        return
    files = [*topic.graded_by, *decided_by(interview.file, topics)]
    yield from clean.problems("interview", INTERVIEW, files, _rounds(interview))
    yield from _sources(interview.file, interview.sources)
    yield from _names(interview)


def _rounds(interview: Interview) -> Iterator[WarpladderError]:
    yield from _probes(interview.points)
    for item in interview.rounds:
        yield from _probes((*item.limits, *item.next))


def check_drills(
    what: Format[Any], root: Path, topics: dict[str, Topic], clean: Clean
) -> Iterator[WarpladderError]:
    """Problems of a format's drills: their probes, their links, and files of none."""
    for path in sorted(what.folder(root).glob("*.toml")):
        try:
            drill = what.read(path)
        except WarpladderError as error:
            yield error
        else:
            yield from check_drill(drill, topics, clean)
    for path in sorted(path for path in what.folder(root).glob("*") if path.name != "__pycache__"):
        whole = [end for end in what.files if path.name.endswith(end)]
        if not whole or not path.with_name(path.name.removesuffix(whole[-1]) + ".toml").is_file():
            yield WarpladderError("this file belongs to no drill", file=path)


def check_drill(drill: Drill, topics: dict[str, Topic], clean: Clean) -> Iterator[WarpladderError]:
    """Problems of what every drill has."""
    yield from _sources(drill.file, drill.sources)
    for name in drill.topics:
        if name not in topics:
            yield WarpladderError(f"`topics` names {name}, which is none", file=drill.file)
    yield from clean.problems("drill", INTERVIEW, decided_by(drill.file, topics), _asked(drill))


def _asked(drill: Drill) -> Iterator[WarpladderError]:
    try:
        drill.given(drill.drawn(0))
    except ValueError as error:  # a parameter is formatted in a way that there is not
        yield WarpladderError(f"`text`: {error}", file=drill.file)
    for step in drill.steps:
        yield from check_probe(step.probe)
    if isinstance(drill, Design):
        yield from _probes(drill.points)


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


def decided_by(file: Path, topics: dict[str, Topic]) -> list[Path]:
    """The files that what a question or a drill asks is computed from: those with its name, and of the topics that they
    name, by whose kernels they may count, the ladder and the record."""
    files = sorted(file.parent.glob(f"{file.stem}.*"))
    texts = [path.read_text(encoding="utf-8") for path in files]
    for name in sorted({name for text in texts for name in _QUOTED.findall(text)} & topics.keys()):
        files += topics[name].graded_by
        files += [path for path in [record_file(name)] if path.is_file()]
    return files


def _sources(file: Path, sources: Sequence[Source]) -> Iterator[WarpladderError]:
    """Sources and links that lead nowhere on this disk."""
    for source in sources:
        if not is_external(source.url) and not resolves(file, source.url):
            yield WarpladderError(f"the source {source.url} leads nowhere", file=file, line=source.line)
    yield from check_links(file, file.read_text(encoding="utf-8"))


def _probes(points: Sequence[Point]) -> Iterator[WarpladderError]:
    """Each probe of each point can be answered."""
    for point in points:
        for probe in point.probes:
            yield from check_probe(probe)


def _names(entry: Entry) -> Iterator[WarpladderError]:
    """No two probes of a file have one name."""
    seen: set[str] = set()
    for probe in entry.probes:
        if probe.name in seen:
            message = f"there is a probe `{probe.name}` already"
            yield WarpladderError(message, file=entry.file, line=probe.line)
        seen.add(probe.name)


def check_probe(probe: Probe) -> Iterator[WarpladderError]:
    """Every combination of the drawn parameters has an answer that can be typed, and not always the same."""
    count = math.prod(len(choices) for choices in probe.draw.values())
    if count > MOST_DRAWS:
        message = f"`{probe.name}` can be drawn in {count:,} ways; at most {MOST_DRAWS:,} are computed"
        yield WarpladderError(message, file=probe.file, line=probe.line)
        return
    answers: set[str] = set()
    for parameters in posing.every_draw(probe):
        try:
            posed = posing.compute(probe, parameters, random.Random(0))
        except WarpladderError as error:
            yield error
            return
        answers.add(posed.said)
        in_percent = isinstance(probe, NumberProbe) and probe.unit == "%"
        typed = f"{posed.answer} %" if in_percent else posed.answer
        if not posed.right(posed.read(typed)) and not _is_power_of_two(posed):
            message = f"`{probe.name}`: nobody types {posed.value!r} exactly, as for {dict(parameters)}"
            remedy = "set `tolerance` to 0.01 or so, or ask for a whole number"
            yield WarpladderError(message, file=probe.file, line=probe.line, remedy=remedy)
            return
    if count > 1 and len(answers) == 1:
        message = f"`{probe.name}` has the same answer however it is drawn"
        yield WarpladderError(message, file=probe.file, line=probe.line)
    if isinstance(probe, ChoiceProbe) and not probe.computed:
        yield from _equally_long(probe)


def _equally_long(probe: ChoiceProbe) -> Iterator[WarpladderError]:
    """A right statement does not give itself away by its length."""
    longest = max(map(len, probe.wrong))
    if all(len(right) > LONGER * longest for right in probe.right):
        remedy = "shorten it, or write the wrong ones out"
        message = f"`{probe.name}`: the right statement is the longest by far"
        yield WarpladderError(message, file=probe.file, line=probe.line, remedy=remedy)


def _is_power_of_two(posed: Posed) -> bool:
    """Whether the answer is one, which is typed as 2^-24."""
    return (
        isinstance(posed.probe, NumberProbe)
        and posed.value is not None
        and math.frexp(abs(posed.value))[0] == 0.5
    )
