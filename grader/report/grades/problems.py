"""What is wrong with a submission, a line each, as compilers say it and editors read it: file:line: error: message."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.results import Grade

_FURTHER = re.compile(r"line (\d+): (.*)")  # further errors of the compiler


def lines(result: Grade) -> list[str]:
    """Of a grade that is no pass; where no line is known, the file's first."""
    return [f"{result.file}:{line}: error: {text}" for line, text in _problems(result)]


def _problems(result: Grade) -> Iterator[tuple[int, str]]:
    if result.verdict == "pass":
        return
    for finding in result.findings:
        remedy = f". {finding.remedy}" if finding.remedy else ""
        yield finding.line or 1, _one_line(f"{finding.message}{remedy}")
    if not result.findings and result.reason is not None:
        yield from _reasons(result.file, result.reason)


def _reasons(file: str, reason: str) -> Iterator[tuple[int, str]]:
    """What the compiler or the judge says, which may name its own line, and further lines of the file."""
    first, *others = reason.splitlines()
    further = [match for line in others if (match := _FURTHER.match(line))]
    place = re.search(rf"{re.escape(file)}:(\d+): (.*)", first)
    if place is None:
        yield 1, _one_line(reason)
    else:
        yield int(place[1]), place[2]
    yield from ((int(match[1]), match[2]) for match in further)


def _one_line(text: str) -> str:
    return " ".join(text.split())
