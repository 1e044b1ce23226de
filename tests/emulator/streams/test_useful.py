"""What of a recording's work its results need."""

from __future__ import annotations

import pytest

from grader.emulator.streams.commands import (
    Buffer,
    Command,
    Copy,
    Fill,
    Graph,
    HostCopy,
    LaunchGraph,
    LaunchKernel,
    Place,
    Recording,
)
from grader.emulator.streams.ordering import Extent
from grader.emulator.streams.useful import useful

BYTES = 1000
SOURCE, TARGET, STAGED, DEVICE_IN, DEVICE_OUT = range(5)
BUFFERS = (
    Buffer("pinned", BYTES, "source"),
    Buffer("pinned", BYTES, "target"),
    Buffer("pinned", BYTES),
    Buffer("device", BYTES),
    Buffer("device", BYTES),
)


def copy(target: int, source: int, first: int = 0, nbytes: int = BYTES) -> Copy:
    return Copy(Place(target, first), Place(source, first), nbytes, 1, False)


def launch(first: int = 0, nbytes: int = BYTES) -> LaunchKernel:
    arguments = (Place(DEVICE_IN, first), Place(DEVICE_OUT, first), nbytes.to_bytes(8, "little"))
    return LaunchKernel("kernel", (1, 1, 1), (1, 1, 1), 0, arguments, 1)


def reach(launch: LaunchKernel) -> list[Extent]:
    source, target, count = launch.args
    assert isinstance(source, Place)
    assert isinstance(target, Place)
    assert isinstance(count, bytes)
    nbytes = int.from_bytes(count, "little")
    return [Extent(source, nbytes, False), Extent(target, nbytes, True)]


def shares(*commands: Command, graph: tuple[Command, ...] = ()) -> list[float]:
    graphs = (Graph(1, graph),) if graph else ()  # type: ignore[arg-type]
    found = useful(Recording(BUFFERS, (True,) * 4, 0, graphs, commands), reach, {"target"})
    return [found[id(command)] for command in (*commands, *graph) if not isinstance(command, LaunchGraph)]


def test_all_of_a_plain_job_is_needed() -> None:
    assert shares(copy(DEVICE_IN, SOURCE), launch(), copy(TARGET, DEVICE_OUT)) == [1, 1, 1]


def test_staging_on_the_host_is_followed() -> None:
    staging = HostCopy(Place(STAGED, 0), Place(SOURCE, 0), BYTES)
    assert shares(staging, copy(DEVICE_IN, STAGED), launch(), copy(TARGET, DEVICE_OUT)) == [1, 1, 1, 1]


def test_what_nobody_reads_is_of_no_use() -> None:
    idle = Fill(Place(STAGED, 0), b"\0", BYTES, 2)
    job = [copy(DEVICE_IN, SOURCE), launch(), copy(TARGET, DEVICE_OUT)]
    assert shares(idle, *job, launch()) == [0, 1, 1, 1, 0]


def test_what_is_written_over_is_of_no_use() -> None:
    job = [copy(DEVICE_IN, SOURCE), launch(), copy(TARGET, DEVICE_OUT)]
    assert shares(launch(), copy(TARGET, DEVICE_OUT), *job) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("needed", [1, 10, 999])
def test_a_launch_is_of_as_much_use_as_what_is_kept_of_it(needed: int) -> None:
    """And so is what it reads."""
    found = shares(copy(DEVICE_IN, SOURCE), launch(), copy(TARGET, DEVICE_OUT, nbytes=needed))
    assert found == pytest.approx([needed / BYTES, needed / BYTES, 1])


def test_a_copy_hands_on_what_is_needed_of_it() -> None:
    written_over = copy(TARGET, DEVICE_OUT)
    last = copy(TARGET, STAGED, first=0, nbytes=900)
    found = shares(launch(0, 500), launch(500, 500), written_over, last)
    assert found == pytest.approx([0, 0.2, 0.1, 1])


def test_the_greater_of_two_needs_counts() -> None:
    """One launch that is hardly needed, and one that is, read the same."""
    hardly, wholly = launch(), copy(TARGET, DEVICE_IN, first=1, nbytes=999)
    assert shares(
        copy(DEVICE_IN, SOURCE), wholly, hardly, copy(TARGET, DEVICE_OUT, nbytes=1)
    ) == pytest.approx([0.999 + 0.001 * 0.001, 1, 0.001, 1])


def test_a_graph_is_as_useful_as_its_launches_are_on_average() -> None:
    again = LaunchGraph(0, 1)
    found = shares(again, again, copy(TARGET, DEVICE_OUT), graph=(copy(DEVICE_IN, SOURCE), launch()))
    assert found == [1, 0.5, 0.5]
