"""How many emulators this computer has room for."""

from __future__ import annotations

from grader.emulator.machine.cores import usable
from grader.judge.correctness.cases import COPIES
from grader.sandbox.memory import free_bytes
from grader.workbook.reference import Problem
from grader.workbook.topic import Topic

EMULATOR_BYTES = 400 << 20
"""What an emulator takes besides arrays, generating code of a large kernel, and a compiler beside it."""

_SHARE = 0.5
"""Of the memory that is free: the rest is left to whatever else runs."""

FEWEST = 2
"""A rung is compiled while another is tried."""


def at_a_time(topic: Topic, overrides: Problem | None = None) -> int:
    """How many rungs of a ladder to emulate at a time: as many as there are cores, if memory has room for the emulators
    and for the arrays that each has of a problem."""
    problems = (*topic.judge_cases, topic.problem("count", overrides))
    arrays = COPIES * max(map(topic.reference.min_bytes, problems))
    room = int(_SHARE * free_bytes() / (EMULATOR_BYTES + arrays))
    return max(1, min(len(topic.rungs), max(FEWEST, usable()), room))
