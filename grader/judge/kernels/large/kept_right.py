"""Outputs that were compared and found right, known by their digests.

The inputs of a warm-up are the same in every run, and so is what must come of them: an output that was right once is
right again. To find its digest on the device takes far less than to copy it back and to find what it must be.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

import msgspec

from grader.emulator.cache import cache_folder, keep, kept
from grader.judge.correctness.comparison import Comparison
from grader.judge.kernels.fresh import Fresh
from grader.judge.timing.kept import state
from grader.workbook.reference import Problem
from grader.workbook.topic import Topic

MOST = 64
"""Outputs of a topic that are kept: those that were found last."""


class Found(msgspec.Struct, frozen=True):
    """What comparing an output has found, and taken."""

    error: float | None
    bound: str | None
    seconds: float


class KeptRight:
    """The right outputs of one topic at one problem, on inputs of these values."""

    def __init__(self, topic: Topic, problem: Problem, values: Fresh) -> None:
        sizes, inputs = repr(sorted(problem.items())), digest_of_values(values)
        self._path = cache_folder() / f"{state(topic, '', '', sizes, inputs)}.right"

    def find(self, name: str, digest: str) -> Found | None:
        """What was found of an output of this digest; None where it was not compared, or was wrong."""
        return self._entries.get(f"{name} {digest}")

    def add(self, name: str, digest: str, comparison: Comparison, seconds: float) -> None:
        """Keep that an output was found right."""
        self._entries[f"{name} {digest}"] = Found(comparison.error, comparison.bound, seconds)
        newest = [*self._entries.items()][-MOST:]
        keep(self._path, msgspec.json.encode(dict(newest)))

    @cached_property
    def _entries(self) -> dict[str, Found]:
        content = kept(self._path)
        return {} if content is None else msgspec.json.decode(content, type=dict[str, Found])


def digest_of_values(values: Fresh) -> str:
    """Of all that inputs are made of."""
    found = hashlib.sha256(repr((values.start, values.window, values.seed)).encode())
    for given in (values.pools, values.tables):
        for name, array in sorted(given.items()):
            found.update(f"{name} {array.dtype} {array.shape}".encode())
            found.update(array.tobytes())
    return found.hexdigest()
