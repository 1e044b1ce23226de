"""Words for what a schedule did, from data made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from grader.findings.schedules import (
    TOOLS,
    BeyondEnd,
    Deed,
    InPlace,
    Kind,
    Memory,
    OtherArguments,
    OtherBlock,
    OtherKernel,
    OtherSize,
    ReadUnwritten,
    ResultUnwritten,
    ScheduleFinding,
    SmallGrid,
    Unordered,
    kind_of,
    message,
    remedy,
    results,
)

TARGET, SPARE = Memory("target", False, 4000), Memory("", True, 4000)
COPY, LAUNCH, HOST = Deed("copy", True, 4), Deed("launch", False, 5), Deed("host", False, 6, on_host=True)

FINDINGS: list[tuple[ScheduleFinding, Kind, str, str]] = [
    (OtherKernel(3, "other"), "launch", "`other` is launched, which is not this topic's kernel", ""),
    (OtherArguments(3, "process(N)"), "launch", "does not pass what the kernel takes: process(N)", ""),
    (OtherSize(3, "R", 1, 2), "launch", "passes R = 1, the job has R = 2", ""),
    (OtherBlock(3, (32, 1, 1), (256, 1, 1)), "launch", "blocks of (32, 1, 1) threads", ""),
    (
        SmallGrid(3, (1, 1, 1), (2000,), {"N": 9}),
        "launch",
        "The grid has 1 block, where N = 9 needs 2,000",
        "cdiv",
    ),
    (InPlace(3), "launch", "writes into memory that it reads", "a buffer of its own"),
    (
        BeyondEnd(3, 8, 4000, 8),
        "launch",
        "touches 4,000 bytes from byte 8 on, 8 beyond the end",
        "last chunk",
    ),
    (
        Unordered(5, COPY, LAUNCH, SPARE, None),
        "order",
        "The launch of line 5 reading a device buffer of 4,000 bytes may overlap the copy of line 4 into it",
        "wait_for_event",
    ),
    (
        Unordered(4, LAUNCH, COPY, SPARE, (0, 8)),
        "order",
        "may overlap the launch",
        "Only bytes 0 to 7 are touched",
    ),
    (
        Unordered(6, COPY, HOST, TARGET, None),
        "order",
        "The host of line 6 reading `target`",
        "Let the host wait",
    ),
    (
        Unordered(4, HOST, COPY, TARGET, None),
        "order",
        "may overlap the host of line 6",
        "Copy on the host only",
    ),
    (
        Unordered(4, COPY, None, TARGET, None),
        "order",
        "run() returns while the copy of line 4 into",
        "Wait for it",
    ),
    (ReadUnwritten(5, LAUNCH, SPARE, 8), "unwritten", "finds byte 8 never written", "Was it copied?"),
    (
        ResultUnwritten(None, TARGET, 0, False),
        "unwritten",
        "Nothing is copied to `target`",
        "Copy the results back",
    ),
    (
        ResultUnwritten(None, TARGET, 8, True),
        "unwritten",
        "byte 8 of 4,000 is the first that no copy",
        "chunks",
    ),
]


@pytest.mark.parametrize(("finding", "kind", "says", "mends"), FINDINGS)
def test_each_finding_in_words(finding: ScheduleFinding, kind: Kind, says: str, mends: str) -> None:
    assert kind_of(finding) == kind
    assert says in message(finding)
    assert mends in (remedy(finding) or "")


def test_every_finding_and_kind_is_in_the_list() -> None:
    assert {type(finding) for finding, *_ in FINDINGS} == set(get_args(ScheduleFinding))
    assert {kind for _, kind, *_ in FINDINGS} == set(get_args(Kind)) == set(TOOLS)
    book = (Path(__file__).parents[2] / "book" / "reference" / "emulator.md").read_text("utf-8")
    assert all(f"`{kind}`" in book for kind in get_args(Kind))


def test_findings_that_differ_in_numbers_alone_are_one() -> None:
    rounds = [Unordered(5, COPY, LAUNCH, SPARE, (n, n + 4)) for n in range(3)]
    others = [Unordered(5, LAUNCH, COPY, SPARE, None), OtherSize(3, "R", 1, 2), OtherSize(3, "N", 1, 2)]
    shown = results([*rounds, *others])
    assert [item.count for item in shown] == [3, 1, 1, 1]
    first = shown[0]
    assert (first.kind, first.line, first.tool, first.action, first.array) == (
        *("order", 5, "racecheck", "read"),
        None,
    )
    assert first.other is not None
    assert (first.other.action, first.other.line) == ("write", 4)
