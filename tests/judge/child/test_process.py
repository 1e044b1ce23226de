"""The child process: what it does for its parent, and what happens when it does not answer."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from grader.emulator.nvrtc import compilation
from grader.errors import WarpladderError
from grader.judge.child.begun import RECORDING
from grader.judge.child.process import ChildDied, ChildProcess, ChildTimeout, ChildUnusable
from grader.judge.child.protocol import (
    Allocate,
    Download,
    Fill,
    Launch,
    Load,
    Operation,
    Pointer,
    Release,
    Run,
    Scalar,
    Timed,
    Upload,
)
from grader.judge.correctness.guards import POISON
from grader.judge.kernels.case_run import records_of
from grader.judge.refused import Lost, Refused
from grader.judge.runners.runner import Runner
from grader.sandbox.start import takes_more

SOURCE = """
#include <cstdio>
extern "C" __global__ void twice(int* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) printf("not a reply\\n");
    if (i < n) a[i] *= 2;
}
__constant__ int offset[2];
extern "C" __global__ void add(int* a, int n) { if (threadIdx.x < n) a[threadIdx.x] += offset[threadIdx.x]; }
extern "C" __global__ void forever(volatile int* a, int n) { while (a[0] >= 0) a[1] = n; }
"""


@pytest.fixture(scope="module")
def image() -> bytes:
    return compilation.build(SOURCE).image("emulator")


@pytest.fixture
def worker() -> Iterator[ChildProcess]:
    with ChildProcess("emulator", threads=1) as found:
        yield found


def launch(symbol: str, n: int, blocks: tuple[int, ...] | None = None) -> Launch:
    return Launch(symbol, (2, 1, 1), (32, 1, 1), 0, (Pointer("a"), Scalar("int32", n)), blocks=blocks)


def test_a_buffer_is_copied_into_constant_memory(worker: ChildProcess, image: bytes) -> None:
    worker.reserve(16)
    worker.view(0, 8).view(np.int32)[:] = [30, 40]
    add = msgspec.structs.replace(launch("add", 2), grid=(1, 1, 1), constant=(("offset", "b"),))
    operations: list[Operation] = [
        Load("m", image),
        Allocate("a", 8),
        Fill("a", 5),
        Allocate("b", 8),
        Upload("b", 0),
        Run("m", (add,)),
        Download("a", 8),
    ]
    assert worker.ask(operations, 60).failure is None
    assert worker.view(8, 8).view(np.int32).tolist() == [35, 45]
    failure = worker.ask([Allocate("b", 12), Run("m", (add,))], 60).failure
    assert failure is not None
    assert "12 bytes do not fit into `offset`, which has 8" in failure.message
    assert "others read the array from global memory" in failure.message
    assert failure.status is None


def test_a_failure_has_the_drivers_status(worker: ChildProcess) -> None:
    failure = worker.ask([Allocate("a", 1 << 50)], 60).failure
    assert failure is not None
    assert (failure.kind, failure.status) == ("MemoryError", "OUT_OF_MEMORY")


def test_findings_name_the_buffers_they_are_about(worker: ChildProcess, image: bytes) -> None:
    worker.reserve(16)
    operations = [Load("m", image), Allocate("a", 40 * 4), Run("m", (launch("twice", 41),))]
    reply = worker.ask(operations, 60)
    (record,) = reply.values[2]
    assert {(item.kind, item.array) for item in record.findings} == {("out_of_bounds", "a")}
    found = record.findings[0]
    assert found.allocation is not None
    assert (found.address, found.allocation.nbytes) == (found.allocation.base + 160, 160)


def test_buffers_travel_there_and_back(worker: ChildProcess, image: bytes) -> None:
    worker.reserve(256)
    worker.view(0, 256).view(np.int32)[:] = np.arange(64)
    operations: list[Operation] = [
        Load("m", image),
        Allocate("a", 256),
        Upload("a", 0),
        Run("m", (launch("twice", 40),)),
        Download("a", 0),
        Release(),
    ]
    reply = worker.ask(operations, 60)
    assert reply.failure is None
    (record,) = reply.values[3]
    assert (record.kernel, record.status, record.blocks_run) == ("twice", "completed", 2)
    expected = np.arange(64) * np.where(np.arange(64) < 40, 2, 1)
    assert np.array_equal(worker.view(0, 256).view(np.int32), expected)


def test_guards_lie_around_the_pointer(worker: ChildProcess, image: bytes) -> None:
    worker.reserve(1024)
    region = worker.view(0, 256 + 2 * 128)
    region[:] = 1
    operations = [Load("m", image), Allocate("a", 256, 128), Upload("a", 0), Run("m", (launch("twice", 64),))]
    worker.ask([*operations, Download("a", 0)], 60)
    assert set(region[:128]) == {1}
    assert set(region[128:384]) == {2}
    assert set(region[384:]) == {1}


def test_only_sampled_blocks_run(worker: ChildProcess, image: bytes) -> None:
    worker.reserve(256)
    worker.view(0, 256).view(np.int32)[:] = 1
    run = Run("m", (launch("twice", 64, blocks=(1,)),))
    worker.ask([Load("m", image), Allocate("a", 256), Upload("a", 0), run, Download("a", 0)], 60)
    assert list(worker.view(0, 256).view(np.int32)[[0, 31, 32, 63]]) == [1, 1, 2, 2]


def test_fill_covers_odd_sizes(worker: ChildProcess) -> None:
    worker.reserve(16)
    reply = worker.ask([Allocate("a", 7), Fill("a", POISON), Download("a", 0)], 60)
    assert reply.failure is None
    assert worker.view(0, 7).tobytes() == (POISON.to_bytes(4, "little") * 2)[:7]


def test_a_timed_pass_gives_seconds(worker: ChildProcess, image: bytes) -> None:
    timed = Timed(Run("m", (launch("twice", 64),)), "flush")
    reply = worker.ask([Load("m", image), Allocate("a", 256), Allocate("flush", 4096), timed], 60)
    assert reply.failure is None
    assert isinstance(reply.values[-1], float)


def test_the_budget_ends_an_endless_loop_with_a_record(worker: ChildProcess, image: bytes) -> None:
    run = Run("m", (launch("forever", 1),), budget=10_000)
    reply = worker.ask([Load("m", image), Allocate("a", 256), Fill("a", 0), run], 60)
    (record,) = reply.values[3]
    assert record.status == "budget exhausted"


def test_the_clock_ends_what_has_no_budget(worker: ChildProcess, image: bytes) -> None:
    worker.ask([Load("m", image), Allocate("a", 256), Fill("a", 0)], 60)
    with pytest.raises(ChildTimeout):
        worker.ask([Run("m", (launch("forever", 1),))], 1.0)


def test_a_failure_names_its_operation_and_keeps_the_child(worker: ChildProcess) -> None:
    reply = worker.ask([Allocate("a", 16), Run("no such module", (launch("twice", 1),))], 60)
    assert reply.failure is not None
    assert reply.failure.operation == 1
    assert worker.ask([Release()], 60).failure is None


def test_a_child_that_dies_says_how(worker: ChildProcess) -> None:
    worker.hello()
    worker._begun.process.kill()
    worker._begun.process.wait()
    with pytest.raises(ChildDied, match="SIGKILL"):
        worker.ask([Release()], 60)


MANY_MAPS = """
import mmap, os
file = os.memfd_create("one MiB")
os.ftruncate(file, 1 << 20)
maps = [mmap.mmap(file, 1 << 20, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE) for _ in range(512)]
print("mapped", flush=True)
input()
"""


def test_a_page_that_is_mapped_many_times_is_taken_once() -> None:
    """A pattern that fills an array of many GiB is one MiB of memory."""
    with subprocess.Popen(
        [sys.executable, "-c", MANY_MAPS], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"mapped\n"
        resident = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * resource.getpagesize()
        assert resident > 512 << 20
        assert takes_more(process, 4 << 20)
        assert not takes_more(process, 100 << 20)
        process.communicate(b"\n")


def test_no_device_no_hello() -> None:
    with ChildProcess("emulator", "sm_1") as worker, pytest.raises(ChildUnusable, match="sm_1"):
        worker.hello()


def test_the_end_of_a_child_says_nothing_about_a_kernel(image: bytes) -> None:
    """Somebody else has ended it; what a stranger's own code ends is that code's."""
    for role, says in ((None, Lost), (RECORDING, Refused)):
        runner = Runner("emulator", threads=1, role=role)
        runner.hello()
        runner._worker._begun.process.kill()
        runner._worker._begun.process.wait()
        with pytest.raises(Refused, match="SIGKILL") as refusal:
            runner.ask([Release()], 60)
        assert type(refusal.value) is says
        runner.close()


@pytest.mark.verify
def test_a_runner_replaces_its_child(image: bytes) -> None:
    runner = Runner("emulator", threads=1)
    try:
        endless = [Load("m", image), Allocate("a", 256), Fill("a", 0), Run("m", (launch("forever", 1),))]
        with pytest.raises(Refused) as refusal:
            runner.ask(endless, 3.0)
        assert refusal.value.verdict == "timeout"
        assert isinstance(refusal.value, Lost), "the emulator ends kernels by what they execute"
        assert runner.ask([Release()], 60).failure is None
    finally:
        runner.close()


def test_a_device_is_empty_once_it_is_renewed_in_the_same_child(image: bytes) -> None:
    runner = Runner("emulator", threads=1)
    made = [Load("m", image), Allocate("a", 256), Fill("a", 0)]
    try:
        failed = runner.ask([*made, Run("m", (launch("forever", 1),), budget=1000)], 60)
        assert [record.status for record in records_of(failed)] == ["budget exhausted"]
        process = runner._worker._begun.process
        runner.renew(60)
        assert (runner._worker._begun.process, runner.generation) == (process, 1)
        assert runner.ask([Release(), Fill("a", 0)], 60).failure is not None, "what is not there any more"
        again = runner.ask([*made, Run("m", (launch("twice", 1),))], 60)
        assert [record.status for record in records_of(again)] == ["completed"]
    finally:
        runner.close()


def test_a_cache_that_cannot_be_written_is_named_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WARPLADDER_CACHE", "/proc/no/such/folder")
    with pytest.raises(WarpladderError, match=r"/proc/no/such/folder.*\n.*export WARPLADDER_CACHE=<"):
        ChildProcess("emulator")


def test_the_child_imports_nothing_heavy() -> None:
    """A cold child has to be ready soon: only what launches may be imported."""
    script = "import sys, grader.judge.child.server; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert {"rich", "scipy", "matplotlib", "typer", "numba", "jinja2"}.isdisjoint(done.stdout.split())
