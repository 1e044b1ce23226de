"""What a class hands in: kinds of it, and a class drawn from them by a seed."""

from __future__ import annotations

import codecs
import random
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO

from classroom import notebooks, sources
from classroom.notebooks import Notebook
from classroom.sources import Expected, Made
from grader.course.gradebook.sheet import shown
from grader.workbook.topic import Topic

PENALTY_A_DAY = 0.1
"""What the class's course takes off for each day that has begun."""

File = tuple[str, bytes]
"""What its author called it, and what is in it."""


@dataclass(frozen=True)
class Student:
    """Somebody on the roster."""

    id: str
    first_name: str
    last_name: str
    platform: str  # that they hand in on
    number: int  # what it calls them, with another one in each of Moodle's assignments


@dataclass(frozen=True)
class HandedIn:
    """What one student handed in to one assignment."""

    student: Student
    topic: str
    kind: str
    files: Sequence[File]  # the last one counts
    expected: Expected
    days_late: int = 0
    same_as: str = ""  # the student whose source it is, by other names

    @property
    def score(self) -> str:
        """What the exported table has to hold: nothing where there is no mark."""
        points = self.expected.points
        return shown(None if points is None else points * (1 - PENALTY_A_DAY * self.days_late))


@dataclass
class Desk:
    """Where a student makes something up."""

    topic: Topic
    released: Notebook
    draw: random.Random
    student: Student
    originals: dict[str, tuple[str, Made]] = field(default_factory=dict)
    """By topic, what others may copy: whose it is, and the source."""

    def notebook(self, source: str) -> Notebook:
        """The assignment with a source in it."""
        return notebooks.with_source(self.released, self.topic, source)

    def handed_in(self, made: Made, *edits: notebooks.Edit, **about: object) -> HandedIn:
        """A notebook with a source in it, edited."""
        notebook = self.notebook(made.text)
        for edit in edits:
            edit(notebook, self.topic, self.draw)
        return self.as_files(
            [(f"{self.topic.name}.ipynb", notebooks.written(notebook))], made.expected, **about
        )

    def as_files(self, files: Sequence[File], expected: Expected, **about: object) -> HandedIn:
        """Files as they are."""
        return HandedIn(self.student, self.topic.name, "", files, expected, **about)  # type: ignore[arg-type]


Maker = Callable[[Desk], HandedIn]


def _of(source: sources.Source) -> Maker:
    return lambda desk: desk.handed_in(source(desk.topic, desk.draw))


def _edited(edits: Sequence[notebooks.Edit]) -> Maker:
    return lambda desk: desk.handed_in(sources.right(desk.topic, desk.draw), desk.draw.choice(edits))


def _copied(desk: Desk) -> HandedIn:
    """Of two, the first writes something, and the second copies it."""
    first = desk.originals.pop(desk.topic.name, None)
    if first is None:
        made = sources.original(desk.topic, desk.draw)
        desk.originals[desk.topic.name] = desk.student.id, made
        return desk.handed_in(made)
    whose, made = first
    text = sources.copied(desk.topic, made.text, desk.draw)
    return desk.handed_in(Made(text, made.expected), same_as=whose)


def _encoded(desk: Desk) -> HandedIn:
    """A notebook, or a source, in what editors write besides plain UTF-8."""
    made = sources.right(desk.topic, desk.draw)
    text = f"{'//' if desk.topic.suffix == '.cu' else '#'} Größe, für später\n"
    code = made.text.replace("\n", f"\n{text}", 1) if desk.topic.suffix == ".cu" else text + made.text
    form = desk.draw.randrange(5)
    if form < 2:
        whole = notebooks.written(desk.notebook(code)).decode()
        data = whole.encode("utf-16") if form else codecs.BOM_UTF8 + whole.encode()
        return desk.as_files([(f"{desk.topic.name}.ipynb", data)], made.expected)
    coding = ("latin-1", "utf-16", "utf-8-sig")[form - 2]
    return desk.as_files([(f"mine{desk.topic.suffix}", code.encode(coding, "replace"))], made.expected)


def _unreadable(desk: Desk) -> HandedIn:
    """What no mark can be made of, and is not to be taken for the starter."""
    suffix, name = desk.topic.suffix, f"{desk.topic.name}.ipynb"
    whole = notebooks.written(desk.notebook("// Größe"))
    files: tuple[File, ...] = (
        (f"mine{suffix}", b""),
        (f"mine{suffix}", codecs.BOM_UTF8 + b" \n"),
        (f"mine{suffix}", b"\x7fELF\0\0\0"),
        (name, whole[: len(whole) // 2]),
        (name, whole.decode().encode("latin-1", "replace")),
        (name, b'{"nbformat": 99}'),
        (name, b""),
    )
    return desk.as_files([desk.draw.choice(files)], Expected(None))


def _old(desk: Desk) -> HandedIn:
    made = sources.right(desk.topic, desk.draw)
    data = desk.draw.choice(notebooks.OLD)(desk.notebook(made.text))
    return desk.as_files([(f"{desk.topic.name}.ipynb", data)], made.expected)


def _renamed(desk: Desk) -> HandedIn:
    name = desk.topic.name
    names = (
        f"{name} (1).ipynb",
        "My Solution.ipynb",
        f"{name.upper()}.IPYNB",
        f"{name}.ipynb.txt",
        "Übung 3.ipynb",
    )
    made = sources.right(desk.topic, desk.draw)
    data = notebooks.written(desk.notebook(made.text))
    return desk.as_files([(desk.draw.choice(names), data)], made.expected)


def _deleted(desk: Desk) -> HandedIn:
    """Cells are missing; without the answer's, nothing is marked."""
    if desk.draw.random() < 0.75:
        return _edited(notebooks.DELETED)(desk)
    notebook = desk.notebook("")
    notebooks.without_answer(notebook, desk.topic)
    return desk.as_files([(f"{desk.topic.name}.ipynb", notebooks.written(notebook))], Expected(None))


def _late(desk: Desk) -> HandedIn:
    """Moodle's by two days, as its worksheet says, and Canvas's by one at least, which counts: no more is known."""
    days = 2 if desk.student.platform == "moodle" else 1
    return desk.handed_in(sources.right(desk.topic, desk.draw), days_late=days)


def _resubmitted(desk: Desk) -> HandedIn:
    """A wrong one, one of less worth, and the one that counts: by Canvas's numbers, where Moodle's download tells only
    how often a browser had downloaded each."""
    moodle = desk.student.platform == "moodle"
    name, suffix = desk.topic.name, "{} ({}).ipynb" if moodle else "{}-{}.ipynb"
    tries = [source(desk.topic, desk.draw) for source in (sources.wrong, sources.half_right, sources.right)]
    names = [f"{name}.ipynb", suffix.format(name, 1), suffix.format(name, 2)]
    data = [notebooks.written(desk.notebook(made.text)) for made in tries]
    expected = Expected(None) if moodle else tries[-1].expected
    return desk.as_files(list(zip(names, data, strict=True)), expected)


def _bare(desk: Desk) -> HandedIn:
    made = sources.right(desk.topic, desk.draw)
    return desk.as_files([(f"{desk.topic.name}{desk.topic.suffix}", made.text.encode())], made.expected)


def _among_others(desk: Desk) -> HandedIn:
    """Beside a scratch notebook, or in a zip."""
    name, made = f"{desk.topic.name}.ipynb", sources.right(desk.topic, desk.draw)
    data = notebooks.written(desk.notebook(made.text))
    scratch = notebooks.written({**desk.released, "cells": []})
    if desk.draw.random() < 0.5:
        return desk.as_files([(name, data), ("warm up.ipynb", scratch)], made.expected)
    zipped = BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        for path, content in ((name, data), ("notes.ipynb", scratch)):
            made_at_no_time = zipfile.ZipInfo(f"my work/{path}")  # by its name alone, it would be made now
            archive.writestr(made_at_no_time, content)
    return desk.as_files([("work.zip", zipped.getvalue())], made.expected)


def _doubtful(desk: Desk) -> HandedIn:
    """Two tries that nothing orders: two kernels in a notebook, or two files. Canvas orders files."""
    made = sources.right(desk.topic, desk.draw)
    if desk.student.platform == "canvas" or desk.draw.random() < 0.5:
        return replace(desk.handed_in(made, notebooks.tries_twice), expected=Expected(None))
    data = notebooks.written(desk.notebook(made.text))
    name = desk.topic.name
    return desk.as_files([(f"{name}.ipynb", data), (f"{name.upper()}.ipynb", data + b"\n")], Expected(None))


@dataclass(frozen=True)
class Kind:
    """A kind of what is handed in."""

    make: Maker
    of_300: int
    limited: bool = False  # it runs into a limit of time or memory
    kernels_alone: bool = False


KINDS: Mapping[str, Kind] = {
    "right": Kind(_of(sources.right), 24),
    "half-right": Kind(_of(sources.half_right), 36),
    "wrong": Kind(_of(sources.wrong), 40),
    "racing": Kind(_of(sources.racing), 12),
    "compile error": Kind(_of(sources.compile_error), 12),
    "prints": Kind(_of(sources.prints), 4),
    "giant outputs": Kind(_edited([notebooks.prints_giants]), 8),
    "encodings": Kind(_encoded, 16),
    "unreadable": Kind(_unreadable, 8),
    "old formats": Kind(_old, 12),
    "tampered": Kind(_edited(notebooks.TAMPERED), 14),
    "renamed": Kind(_renamed, 10),
    "duplicated cells": Kind(_edited(notebooks.DUPLICATED), 10),
    "deleted cells": Kind(_deleted, 10),
    "late": Kind(_late, 12),
    "resubmitted": Kind(_resubmitted, 10),
    "copied": Kind(_copied, 16),
    "a bare source": Kind(_bare, 10),
    "scattered": Kind(_edited(notebooks.SCATTERED), 10),
    "among others": Kind(_among_others, 8),
    "doubtful": Kind(_doubtful, 6),
    "hanging": Kind(_of(sources.hanging), 6, limited=True),
    "compiler bomb": Kind(_of(sources.compiler_bomb), 4, limited=True),
    "preprocessor bomb": Kind(_of(sources.preprocessor_bomb), 2, kernels_alone=True),
}


def a_class(
    topics: Mapping[str, Topic],
    released: Mapping[str, Notebook],
    students: Sequence[Student],
    seed: int,
    each: int = 1,
    kinds: Sequence[str] = tuple(KINDS),
) -> list[HandedIn]:
    """What a class hands in, the same for the same seed: every student to `each` of the assignments."""
    draw = random.Random(seed)
    names = sorted(topics)
    deck = _deck(kinds, len(students) * each)
    draw.shuffle(deck)
    originals: dict[str, tuple[str, Made]] = {}
    found = []
    for number, student in enumerate(students):
        # Two students of one platform follow each other, so that either platform has all topics.
        for topic in (topics[names[(number // 2 + turn) % len(names)]] for turn in range(each)):
            kind = _fitting(deck, topic)
            own = random.Random(f"{seed} {student.id} {topic.name}")
            desk = Desk(topic, released[topic.name], own, student, originals)
            made = KINDS[kind].make(desk)
            found.append(HandedIn(**{**vars(made), "kind": kind}))
    return found


def _deck(kinds: Sequence[str], count: int) -> list[str]:
    """So many kinds: each once, as far as there is room, and then in proportion."""
    whole = sum(KINDS[kind].of_300 for kind in kinds)
    deck = list(kinds)[:count]
    while len(deck) < count:
        deck.append(max(kinds, key=lambda kind: KINDS[kind].of_300 * count / whole - deck.count(kind)))
    return deck


def _fitting(deck: list[str], topic: Topic) -> str:
    """Take the first kind from the deck that a topic can have."""
    if topic.suffix == ".cu":
        fits = sorted(deck, key=lambda kind: not KINDS[kind].kernels_alone)  # schedules cannot have these
    else:
        fits = [kind for kind in deck if not KINDS[kind].kernels_alone]
    kind = fits[0] if fits else "right"
    if fits:
        deck.remove(kind)
    return kind
