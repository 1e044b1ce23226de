"""The last grade of a file, kept in the cache: what is asked of a file that has not changed is not judged again."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import msgspec

from grader.areas import JUDGE
from grader.emulator.cache import cache_folder, keep, kept
from grader.judge.provenance import made_with
from grader.results import Grade, from_json, to_json
from grader.workbook.content import digest
from grader.workbook.topic import Topic


def keep_grade(topic: Topic, file: Path, device: str, arch: str | None, result: Grade) -> None:
    """Keep a grade of all cases; one that says nothing about the file is not."""
    if not result.lost and (state := _state(topic, file, device, arch)) is not None:
        keep(_entry(topic, file), state + to_json(result))


def kept_grade(topic: Topic, file: Path, device: str, arch: str | None) -> Grade | None:
    """The grade of a file, where neither it nor what decides its worth has changed since; None: it has to be judged."""
    content, state = kept(_entry(topic, file)) or b"", _state(topic, file, device, arch)
    if state is None or not content.startswith(state):
        return None
    try:
        return replace(from_json(content.removeprefix(state), Grade), file=str(file))
    except (msgspec.ValidationError, msgspec.DecodeError):
        return None


def _entry(topic: Topic, file: Path) -> Path:
    name = hashlib.sha256(f"{topic.name} {file.resolve()}".encode()).hexdigest()[:32]
    return cache_folder().absolute() / f"grade-{name}"


def _state(topic: Topic, file: Path, device: str, arch: str | None) -> bytes | None:
    """A digest of all that decides the grade; None where the file cannot be read."""
    try:
        read = digest((file, *topic.graded_by))
    except OSError:
        return None
    return hashlib.sha256("\0".join((made_with(JUDGE), device, str(arch), read)).encode()).digest()
