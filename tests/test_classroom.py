"""benchmarks/classroom, which makes up a class: its sources are what they are said to be, and new ones."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from classroom import handing_in, sources
from classroom.handing_in import KINDS, HandedIn, Student
from classroom.rewriting import by_other_names

from grader.course import assignment
from grader.course.likeness import tokens
from grader.workbook import topics
from grader.workbook.topic import Topic

TOPICS = topics.discover()
RUNGS = [(topic, rung.id) for topic in TOPICS.values() for rung in topic.rungs]


def student(number: int) -> Student:
    return Student(f"s{number}", "Ada", "Lovelace", "moodle" if number % 2 == 0 else "canvas", number)


def drawn(seed: int, students: int = 48) -> list[HandedIn]:
    released = {name: json.loads(json.dumps(assignment.notebook(topic))) for name, topic in TOPICS.items()}
    return handing_in.a_class(TOPICS, released, [student(number) for number in range(students)], seed)


@pytest.mark.parametrize(("topic", "rung"), RUNGS, ids=lambda value: getattr(value, "name", value))
def test_a_rung_by_other_names_is_the_same_program(topic: Topic, rung: str) -> None:
    text = topic.rung(rung).path.read_text(encoding="utf-8")
    made = sources.rung(topic, rung, random.Random(1)).text
    assert made != text
    if topic.suffix == ".cu":  # of Python, a copy has another layout
        assert tokens.fingerprint(topic, made) == tokens.fingerprint(topic, text)
    assert made != sources.rung(topic, rung, random.Random(2)).text


def test_members_strings_and_what_the_launch_block_says_keep_their_names() -> None:
    text = (
        '// /// launch\n// kernel = "mine"\n// grid = ["N"]\n// ///\n'
        'void mine(float* a, int N) { float x = s.x; f("a"); }\n'
    )
    made = by_other_names(".cu", text, random.Random(1), ["N"])
    assert "mine" not in made
    assert 's.x; f("a")' in made
    assert 'grid = ["N"]' in made


@pytest.mark.soak(area="course")
def test_a_class_is_the_same_for_the_same_seed_and_all_its_files_are_new() -> None:
    found = drawn(1)
    assert found == drawn(1)
    files = Counter(data for item in found for _, data in item.files if len(data) > 100)
    others = {data for item in drawn(2) for _, data in item.files if len(data) > 100}
    assert max(files.values()) == 1
    assert not others & set(files)


def test_a_class_has_every_kind_and_every_topic() -> None:
    found = drawn(3)
    assert {item.kind for item in found} == set(KINDS)
    assert {item.topic for item in found} == set(TOPICS)
    assert {item.student.platform for item in found} == {"moodle", "canvas"}


def test_what_a_late_submission_is_worth() -> None:
    by_platform = {
        item.student.platform: item.score
        for seed in range(20)
        for item in handing_in.a_class(
            {"transpose": TOPICS["transpose"]},
            {"transpose": json.loads(json.dumps(assignment.notebook(TOPICS["transpose"])))},
            [student(0), student(1)],
            seed,
            kinds=["late"],
        )
        if item.expected.points == 100
    }
    assert by_platform == {"moodle": "80", "canvas": "90"}
