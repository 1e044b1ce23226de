"""What a stranger's process may say of its own calls, and what it may not."""

import re

import pytest

from grader.emulator.streams.commands import (
    MOST_CALLS,
    Buffer,
    Entry,
    Graph,
    LaunchGraph,
    LaunchKernel,
    NewStream,
    Pinned,
    Started,
    Stopped,
    Synchronise,
)
from grader.emulator.streams.transcript import MOST_RUNS, Transcript

GIVEN = Buffer("pageable", 400, "source")
LAUNCH = LaunchKernel("process", (8, 1, 1), (256, 1, 1), 0, (), 0)


def told(*entries: Entry) -> Transcript:
    transcript = Transcript([GIVEN])
    for entry in entries:
        transcript.note(entry)
    return transcript


def test_entries_make_a_recording() -> None:
    found = told(Buffer("device", 8), Pinned(0), NewStream(False), Started(), Synchronise(1))
    recording = found.recording()
    assert not found.complaint
    assert recording.buffers == (Buffer("pinned", 400, "source"), Buffer("device", 8))
    assert recording.blocking == (True, False)
    assert recording.commands == (Synchronise(1),)


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ((Synchronise(None),), "work before run"),
        ((Started(),) * (MOST_RUNS + 1), "begins too often"),
        ((Started(), Pinned(0)), "page-locked in run"),
        ((Started(), Buffer("device", 8)), "allocated .* in run"),
        ((Buffer("pageable", 400, "source"),), "a job's name"),
        ((Buffer("device", 0),), "empty"),
        ((Buffer("device", 8), Pinned(1)), "no host memory"),
        ((Pinned(-1),), "no host memory"),
        ((Started(), *[Synchronise(None)] * MOST_CALLS), f"more than {MOST_CALLS:,} calls"),
    ],
)
def test_what_no_recorder_notes_is_complained_of(entries: tuple[Entry, ...], complaint: str) -> None:
    found = told(*entries)
    assert re.search(complaint, found.complaint)


def test_what_each_call_of_run_asks_for_is_kept_apart() -> None:
    found = told(Started(), LAUNCH, NewStream(True), Started(), LAUNCH, LAUNCH, NewStream(True), Started())
    assert not found.complaint
    assert found.recording().commands == (LAUNCH,)
    assert len(found.recording().blocking) == 2
    assert [calls.total() for calls in found.of_all_calls()] == [1, 2, 0]
    assert not told(Started(), LAUNCH).of_all_calls()[1]


def test_a_call_that_has_to_be_the_only_one_stands_for_both() -> None:
    first, second = told(Started(), LAUNCH, Started(), Stopped()).of_all_calls()
    assert first == second
    assert first.total() == 1


def test_graphs_are_counted_without_being_expanded() -> None:
    """Half of the calls make a graph, and the other half launch it: a hundred million things to do, or none at all."""
    half = MOST_CALLS // 2 - 1
    large, launches = Graph(0, (LAUNCH,) * half), [LaunchGraph(0, 0)] * half
    first, second = told(
        Started(), large, *launches, Started(), LaunchGraph(7, 0), LaunchGraph(-9, 0)
    ).of_all_calls()
    assert first.total() == half * half
    assert second.total() == 0


def test_nothing_is_noted_behind_a_complaint() -> None:
    found = told(Synchronise(None), Started(), Synchronise(None))
    assert found.complaint
    assert found.recording().commands == ()
