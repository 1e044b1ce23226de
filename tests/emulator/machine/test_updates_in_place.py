"""Kernels that load and store the same words. Where each thread has its own, a launch is not done again with all its
accesses tracked; where another thread comes to one of them, it is, and the race is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulated import Bench, Ran

from grader.emulator.machine.launch import LaunchExecution
from grader.emulator.machine.machine import Machine
from grader.emulator.machine.worker import Worker
from grader.emulator.runtime import layout

HEAD = """
extern "C" __global__ void k(int* a, int* b)
{
    const int t = threadIdx.x, g = blockIdx.x, i = 64 * g + t;
"""

OWN = {
    "a word each": "a[i] += 3;",
    "twice": "a[i] += 3; b[i] = t; a[i] += b[i];",
    "in a loop": "for (int k = 0; k < 5; k++) a[i] += b[k];",
    "not all lanes": "if (t < 45) a[i] += 3;",
    "bytes": "((char*)a)[i] += 3;",
    "halves": "((short*)a)[i] += 3; ((short*)a)[i] += 3;",
    "four words": "int4 v = ((int4*)a)[i]; v.x += t; ((int4*)a)[i] = v;",
    "the other way round": "a[8 * (255 - i)] += 3;",
    "a row each": "for (int k = 0; k < 8; k++) a[8 * i + k] += a[8 * i + (k ^ 1)];",
    "one lane of each block": "if (t == 5) a[8 * g] += 3;",
}

MET = {
    "lanes change places": "a[i] += 3; a[i ^ 1] += 3;",
    "warps change places": "a[i] += 3; a[i ^ 32] += 3;",
    "blocks change places": "a[i] += 3; a[i ^ 64] += 3;",
    "all blocks update one word": "if (t == 0) *a += g;",
    "all lanes load what one updates": "b[i] = a[8 * g]; if (t == 5) a[8 * g] += 3;",
    "what one updates all lanes load": "if (t == 5) a[8 * g] += 3; b[i] = a[8 * g];",
    "another width": "a[i] += 3; if (t < 16) ((int4*)a)[16 * g + t] = int4{g, t, 0, 0};",
    "another width, other lanes": "((short*)a)[2 * i] += 3; ((short*)a)[i + 64 * g] += 3;",
    "one lane takes the sector of eight": "a[i] += 3; if (t == 3) for (int k = 0; k < 8; k++) a[64 * g + k] += 3;",
    "another lane stores": "b[i] = a[i]; a[i] += 3; if (t == 9) a[64 * g + 8] = 5;",
    "two lanes a word": "a[64 * g + t / 2] += t;",
    "bytes of other lanes": "((char*)a)[i] += 3; ((char*)a)[i ^ 1] += 3;",
}


def run(bench: Bench, body: str) -> Ran:
    arrays = np.arange(2048, dtype=np.int32), np.zeros(2048, np.int32)
    return bench.cuda(HEAD + body + "\n}", "k", 4, 64, *arrays)


@pytest.fixture(scope="module", params=(1, 3))
def threads(request: pytest.FixtureRequest) -> Bench:
    return Bench(Machine(threads=request.param))


@pytest.mark.parametrize("name", OWN)
def test_each_thread_has_its_own(threads: Bench, name: str) -> None:
    ran = run(threads, OWN[name])
    assert ran.record.findings == ()
    assert not ran.record.communicates


@pytest.mark.parametrize("name", MET)
def test_others_come_there(threads: Bench, name: str) -> None:
    assert {found.kind for found in run(threads, MET[name]).record.findings} == {"race"}


def test_a_cache_that_sees_no_stores(bench: Bench) -> None:
    ran = run(bench, "a[i] += 3; b[i] = __ldg(a + i);")
    assert {found.kind for found in ran.record.findings} == {"stored_read_only"}


def test_a_launch_that_meets_is_undone_first(bench: Bench) -> None:
    (a, _) = run(bench, "a[i] += 3; if (g == 0 && t == 0) b[0] = a[1];").arrays
    assert a[:256].tolist() == list(range(3, 259))


def test_launches_leave_no_owners(bench: Bench) -> None:
    for _ in range(2):
        assert not run(bench, OWN["a word each"]).record.communicates


def test_a_launch_that_is_undone_is_not_run_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    attempt, executed = LaunchExecution._attempt, []

    def counted(self: LaunchExecution, *given: Any) -> tuple[int, list[Worker]]:
        status, used = attempt(self, *given)
        executed.append(sum(int(worker.context[layout.EXECUTED]) for worker in used))
        return status, used

    monkeypatch.setattr(LaunchExecution, "_attempt", counted)
    ran = run(Bench(Machine(threads=1)), "b[t] = 5;")
    assert [ran.arrays[1][at] for at in (0, 63, 64)] == [5, 5, 0]
    first, again = executed
    assert again == 4 * first / 2, "the second of four blocks stores what the first has stored"
