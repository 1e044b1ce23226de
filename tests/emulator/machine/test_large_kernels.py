"""Kernels that need much of what the emulator itself has: none ends the process."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from emulated import Bench

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.machine import machine
from grader.emulator.machine.machine import on_stack
from grader.emulator.ptx.plan import KernelPlan, plan_kernel


def test_code_runs_on_a_stack_that_is_large_enough() -> None:
    """Also in the threads that it starts; afterwards new threads have the usual one again."""

    def inner() -> int:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(threading.stack_size).result()

    before = threading.stack_size()
    assert on_stack(20 << 20, inner) >= 20 << 20
    assert on_stack(1 << 20, inner) == threading.stack_size() == before


def test_code_that_no_stack_is_large_enough_for_is_refused() -> None:
    with pytest.raises(UnsupportedPtx, match="2048 MiB of stack"):
        on_stack(2 << 30, lambda: 0)


def test_calls_that_multiply_are_refused(bench: Bench) -> None:
    levels = "".join(
        f".func f{i}() {{ call.uni f{i + 1}; call.uni f{i + 1}; ret; }}\n" for i in range(30, -1, -1)
    )
    text = f".func f31() {{ ret; }}\n{levels}.visible .entry k(.param .u64 out) {{ call.uni f0; ret; }}"
    with pytest.raises(UnsupportedPtx, match="instructions"):
        bench.ptx(text, "k", 1, 32, np.zeros(32, np.uint32))


def test_more_local_memory_than_a_thread_has_is_refused(bench: Bench) -> None:
    text = """.visible .entry k(.param .u64 out)
    {
    .local .align 16 .b8 depot[10000000]; .reg .b64 %r<3>; mov.u64 %r1, depot; st.local.u64 [%r1], %r1; ret;
    }"""
    with pytest.raises(UnsupportedPtx, match="10000000 bytes of local memory"):
        bench.ptx(text, "k", 1, 1024, np.zeros(32, np.uint32))


def test_a_kernel_is_planned_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text without ptxas's report: how much shared memory the kernel has is known from its plan alone."""
    planned: list[str] = []

    def plan(*arguments: Any, **options: Any) -> KernelPlan:
        planned.append(arguments[1])
        return plan_kernel(*arguments, **options)

    monkeypatch.setattr(machine, "plan_kernel", plan)
    kernel = bench.load(".visible .entry planned() { .shared .b8 tile[64]; ret; }").kernels["planned"]
    for _ in range(3):
        bench.run(kernel, 1, 32)
    assert planned == ["planned"], "for the memory, and for the code"
    assert kernel.static_shared_bytes == 64
