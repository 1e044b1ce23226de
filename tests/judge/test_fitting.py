"""How many emulators work at a time: as many as there are cores, and no more than memory holds."""

from __future__ import annotations

import pytest

from grader.judge.runners import fitting
from grader.workbook import topics

GIB = 1 << 30
GEMM = topics.load("gemm")


@pytest.mark.parametrize(
    ("cores", "free", "expected"),
    [
        (1, 16 * GIB, 2),
        (2, 16 * GIB, 2),
        (4, 16 * GIB, 4),
        (64, 64 * GIB, len(GEMM.rungs)),
        (64, GIB // 2, 1),
    ],
)
def test_cores_rungs_and_memory_bound_them(
    monkeypatch: pytest.MonkeyPatch, cores: int, free: int, expected: int
) -> None:
    monkeypatch.setattr(fitting, "usable", lambda: cores)
    monkeypatch.setattr(fitting, "free_bytes", lambda: free)
    assert fitting.at_a_time(GEMM) == expected


def test_large_arrays_leave_room_for_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "usable", lambda: 8)
    monkeypatch.setattr(fitting, "free_bytes", lambda: 8 * GIB)
    assert fitting.at_a_time(GEMM, {"M": 4096, "N": 4096, "K": 4096}) < fitting.at_a_time(GEMM)
