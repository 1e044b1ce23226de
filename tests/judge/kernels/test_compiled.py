"""What of a kernel is loaded where: the pinned compiler's image, or a cubin of the compiler that a driver needs."""

from __future__ import annotations

import dataclasses
from importlib.metadata import version
from typing import Any

import msgspec
import pytest

from grader.emulator.nvrtc.compilation import Build, CompileError
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.provenance import provenance
from grader.judge.refused import Refused
from grader.judge.runners.runner import Runner
from grader.workbook import compiler, topics

TOP = topics.load("transpose").kernel_files[-1]


def test_a_record_names_both_compilers() -> None:
    pinned = version("nvidia-cuda-nvrtc")
    assert provenance("13.0").nvrtc == provenance(None).nvrtc == pinned
    assert (provenance("12.4").nvrtc or "").startswith(f"{pinned}, cubins by ")


@pytest.fixture
def kernel() -> Kernel:
    return prepare(TOP, "sm_90a")


def compile_with(monkeypatch: pytest.MonkeyPatch, older: Build | Exception) -> list[int]:
    """The versions that `compile_source` is asked for, from now on with `older` for an answer."""
    asked = []

    def compiled(*_: Any, cuda: int, **__: Any) -> Build:
        asked.append(cuda)
        if isinstance(older, Exception):
            raise older
        return older

    monkeypatch.setattr(compiler, "compile_source", compiled)
    return asked


def test_a_driver_is_given_cubins_of_the_version_that_it_needs(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = compile_with(monkeypatch, dataclasses.replace(kernel.build, cubin=b"older"))
    assert kernel.load("gpu").image == kernel.build.cubin
    assert not asked
    assert kernel.load("gpu", 12).image == b"older"
    assert asked == [12]


def test_two_names_of_one_kernel_are_refused(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    other = {name: f"{symbol}_7" for name, symbol in kernel.build.lowered.items()}
    compile_with(monkeypatch, dataclasses.replace(kernel.build, lowered=other))
    with pytest.raises(Refused, match="unnamed namespace"):
        kernel.load("gpu", 12)


def test_what_the_older_compiler_refuses_is_refused(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    error = compiler.CompileFailed(CompileError("too old for that", ()), TOP.source, TOP.path)
    compile_with(monkeypatch, error)
    runner = Runner("emulator", "sm_90a", threads=1)
    try:
        hello = msgspec.structs.replace(runner.hello(), cubins=12)
        monkeypatch.setattr(runner, "hello", lambda: hello)
        with pytest.raises(Refused) as refusal:
            runner.load(kernel, 10)
    finally:
        runner.close()
    assert refusal.value.verdict == "error"
    assert "CUDA 12, which this driver needs, refuses it" in refusal.value.reason
    assert "too old for that" in refusal.value.reason
