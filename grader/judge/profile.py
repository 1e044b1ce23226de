"""Counters, resources and findings of one submission: per launch, and per source line."""

from __future__ import annotations

from pathlib import Path

from grader.judge.kinds import kind_of
from grader.judge.runners.pool import Progress, silent
from grader.results import Code, Profile
from grader.workbook.reference import Problem
from grader.workbook.topic import Topic


def profile(
    topic: Topic,
    file: Path,
    device: str = "auto",
    problem_overrides: Problem | None = None,
    progress: Progress | None = None,
    arch: str | None = None,
    code: Code | None = None,
) -> Profile:
    """Run a submission once, and say what it did.

    A kernel runs on the emulator, at the `count` sizes unless some are given, and its result is compared as well. A GPU
    keeps no counters, so `device` is "auto" or "emulator". A schedule has a timeline instead, on either device, at the
    `main` sizes. `code` lists a kernel's PTX, which is run once more to be counted by instruction, or its SASS. Raises
    WarpladderError for another device, a file that is no submission, a size that is unusable, SASS without nvdisasm,
    or code of a schedule.
    """
    return kind_of(topic).profile(file, device, problem_overrides, progress or silent, arch, code)
