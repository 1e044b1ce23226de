"""The timeline of recordings: queues, engines, and what the host waits for."""

import pytest

from grader.emulator.streams.commands import (
    AwaitEvent,
    Buffer,
    Command,
    Copy,
    Graph,
    HostRead,
    LaunchGraph,
    LaunchKernel,
    Place,
    RecordEvent,
    Recording,
    Synchronise,
    WaitForEvent,
)
from grader.emulator.streams.ordering import Extent, hazards
from grader.emulator.streams.timeline import Link, simulate

# 1 MB takes 1 ms each way, and 1.25 ms while both ways are used; everything else takes no time.
LINK = Link(
    copy_in=1e9,
    copy_out=1e9,
    copy_both=1.6e9,
    pageable_in=2.5e8,
    pageable_out=2.5e8,
    device_copy=1e12,
    host_copy=1e9,
    call_s=0.0,
    graph_node_s=0.0,
    wait_s=0.0,
    start_s=0.0,
)
MB = 1_000_000
SOURCE, TARGET, DEVICE_IN, DEVICE_OUT = 0, 1, 2, 3


def copy_in(stream: int, waits: bool = False) -> Copy:
    return Copy(Place(DEVICE_IN, 0), Place(SOURCE, 0), MB, stream, waits, line=1)


def copy_out(stream: int, waits: bool = False) -> Copy:
    return Copy(Place(TARGET, 0), Place(DEVICE_OUT, 0), MB, stream, waits, line=3)


def launch(stream: int) -> LaunchKernel:
    arguments = (Place(DEVICE_IN, 0), Place(DEVICE_OUT, 0))
    return LaunchKernel("kernel", (1, 1, 1), (1, 1, 1), 0, arguments, stream, line=2)


def recording(
    *commands: Command,
    space: str = "pinned",
    blocking: tuple[bool, ...] = (True,) * 4,
    graph: Graph | None = None,
) -> Recording:
    host = Buffer(space, MB)  # type: ignore[arg-type]
    device = Buffer("device", MB)
    return Recording((host, host, device, device), blocking, 4, (graph,) if graph else (), commands)


def milliseconds(found: Recording) -> float:
    return round(1e3 * simulate(found, LINK, lambda launch: 1e-3).seconds, 6)


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ([copy_in(1), launch(1), copy_out(1)], 3.0),  # a stream keeps its order
        ([copy_in(1), launch(2)], 1.0),  # streams do not
        ([launch(1), launch(2)], 2.0),  # one kernel at a time
        ([copy_in(1), copy_in(2)], 2.0),  # one copy engine for each direction
        ([copy_in(1), copy_out(2)], 1.25),  # both directions share the link
        ([copy_in(1), RecordEvent(0, 1), WaitForEvent(0, 2), launch(2)], 2.0),
        ([copy_in(1), WaitForEvent(0, 2), launch(2)], 1.0),  # an event that was never recorded
        ([copy_in(1), launch(0)], 2.0),  # the default stream waits for the others
        ([launch(0), copy_in(1)], 2.0),  # and they for it
        ([copy_in(1), Synchronise(1), launch(2)], 2.0),
        ([copy_in(1), Synchronise(2), launch(2)], 1.0),
        ([copy_in(1), Synchronise(None), launch(2)], 2.0),
        ([copy_in(1), RecordEvent(0, 1), AwaitEvent(0), launch(2)], 2.0),
        ([copy_in(0, waits=True), launch(1)], 2.0),
        ([HostRead(Place(TARGET, 0), MB), copy_in(1)], 2.0),
    ],
)
def test_how_long_it_takes(commands: list[Command], expected: float) -> None:
    assert milliseconds(recording(*commands)) == expected


def test_a_stream_that_is_not_blocking_does_not_wait_for_the_default_stream() -> None:
    assert milliseconds(recording(copy_in(1), launch(0), blocking=(True, False, True, True))) == 1.0


def test_pageable_memory_holds_up_the_host() -> None:
    assert milliseconds(recording(copy_in(1), launch(2), space="pageable")) == 5.0


def test_a_graph_is_one_piece_of_work_of_its_stream() -> None:
    graph = Graph(1, (copy_in(1), RecordEvent(0, 1), WaitForEvent(0, 2), launch(2)))
    assert milliseconds(recording(LaunchGraph(0, 3), copy_out(3), graph=graph)) == 3.0


def test_a_pipeline_of_equal_steps_keeps_three_engines_busy() -> None:
    chunks = [
        command for i in range(30) for s in [1 + i % 3] for command in (copy_in(s), launch(s), copy_out(s))
    ]
    timeline = simulate(recording(*chunks), LINK, lambda launch: 1.25e-3)
    # 30 steps of 1.25 ms, and the first copy in and the last copy out, which are alone.
    assert timeline.seconds == pytest.approx(30 * 1.25e-3 + 2e-3, rel=0.01)
    launches = [item for item in timeline.intervals if item.engine == "compute"]
    assert sum(item.end_s - item.start_s for item in launches) == pytest.approx(30 * 1.25e-3)


# ---- what may meet ------------------------------------------------------------------------------------------


def reach(launch: LaunchKernel) -> list[Extent]:
    return [Extent(Place(DEVICE_IN, 0), MB, False), Extent(Place(DEVICE_OUT, 0), MB, True)]


@pytest.mark.parametrize(
    ("commands", "lines"),
    [
        ([copy_in(1), launch(1), copy_out(1), Synchronise(1)], []),
        ([copy_in(1), launch(1), copy_out(1)], [None]),  # nobody waits: None is the look at the results
        ([copy_in(1), launch(1), copy_out(1), Synchronise(2)], [None]),
        ([copy_in(1), launch(2), Synchronise(None)], [2]),
        ([copy_in(1), RecordEvent(0, 1), WaitForEvent(0, 2), launch(2), Synchronise(None)], []),
        ([RecordEvent(0, 1), copy_in(1), WaitForEvent(0, 2), launch(2), Synchronise(None)], [2]),
        ([copy_in(1), RecordEvent(0, 1), AwaitEvent(0), launch(2), Synchronise(None)], []),
        ([copy_in(1), launch(0), copy_out(2), Synchronise(None)], []),  # the default stream orders
        ([copy_in(1), launch(1), copy_in(2), Synchronise(None)], [1]),  # used again too early
        ([copy_out(1), HostRead(Place(TARGET, 0), 4, line=9), Synchronise(None)], [9]),
        ([copy_out(0, waits=True), HostRead(Place(TARGET, 0), 4, line=9)], []),
        ([copy_in(1), copy_in(1), Synchronise(None)], []),
    ],
)
def test_what_nothing_orders(commands: list[Command], lines: list[int | None]) -> None:
    found = hazards(recording(*commands), reach, [TARGET])
    assert [None if item.later is None else item.later.line for item in found] == lines


def test_a_graphs_work_is_ordered_by_its_own_events_and_by_its_stream() -> None:
    loose = Graph(1, (copy_in(1), launch(2)))
    tied = Graph(1, (copy_in(1), RecordEvent(0, 1), WaitForEvent(0, 2), launch(2)))
    wait = Synchronise(3)
    assert len(hazards(recording(LaunchGraph(0, 3), wait, graph=loose), reach, [])) == 1
    assert not hazards(recording(LaunchGraph(0, 3), copy_out(3), wait, graph=tied), reach, [TARGET])


def test_pageable_memory_is_read_before_the_call_returns() -> None:
    commands = (copy_in(1), HostRead(Place(SOURCE, 0), 4), copy_out(1))
    assert not hazards(recording(*commands, space="pageable"), reach, [TARGET])
