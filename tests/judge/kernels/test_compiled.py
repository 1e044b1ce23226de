"""What of a kernel is loaded where: the pinned compiler's image, or a cubin of the compiler that a driver needs."""

from __future__ import annotations

import dataclasses
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.emulator.nvrtc.compilation import Build, CompileError, Diagnostic
from grader.judge.kernels import signature_lint
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.provenance import provenance
from grader.judge.refused import Refused
from grader.judge.runners.runner import Runner
from grader.workbook import compiler, topics
from grader.workbook.compiler import CompileFailed
from grader.workbook.kernel_file import parse_source

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


@pytest.mark.verify
def test_what_one_architecture_alone_has_is_declared_in_the_file() -> None:
    top = topics.load("hgemm").kernel_files[-1]
    assert compiler.specific_instruction(prepare(top, "sm_90a").build.ptx) in ("wgmma", "setmaxnreg")
    opening = 1 + top.source.splitlines().index("// /// launch")
    silent = parse_source(top.source.replace('// smallest_arch = "sm_90a"\n', ""), top.signature, top.path)
    less = parse_source(top.source.replace('"sm_90a"', '"sm_90"'), top.signature, top.path)
    for file, line in ((silent, opening), (less, opening + 1)):
        with pytest.raises(Refused, match='Write smallest_arch = "sm_90a"') as refusal:
            prepare(file, "sm_90a")
        assert refusal.value.verdict == "error"
        assert refusal.value.reason.startswith(f"{top.path.name}:{line}: the file uses ")
    assert compiler.specific_instruction(prepare(TOP, "sm_90a").build.ptx) is None


def test_where_tiles_come_by_tma_a_wrong_result_names_what_to_compare(kernel: Kernel) -> None:
    files = {file.path.stem: file for file in topics.load("hgemm").kernel_files}
    copies = signature_lint.of_tiles(prepare(files["09_tma"], "sm_90a")) or ""
    products = signature_lint.of_tiles(prepare(files["10_wgmma"], "sm_90a")) or ""
    assert copies.startswith("The kernel uses TMA: check the coordinates of each box")
    assert "descriptor" not in copies
    assert "TMA and wgmma" in products
    assert "descriptors" in products
    assert "swizzle" in products
    assert signature_lint.of_tiles(kernel) is None


@pytest.mark.parametrize("topic", ["vector_add", "block_sum"])  # of as many parameters, and of fewer
def test_the_kernel_of_another_topic_is_told(topic: str) -> None:
    of_another = topics.load(topic).kernel_files[0]
    file = parse_source(of_another.source, TOP.signature, Path("mine.cu"))
    with pytest.raises(Refused, match=f"`{topic}` is the kernel of another topic") as refusal:
        prepare(file, "sm_90a")
    assert f"ladder grade {topic} mine.cu" in refusal.value.reason


@pytest.mark.parametrize(("body", "says"), [("", "^mine.cu:3: the launch block"), ("x", "^The compiler ")])
def test_what_the_launch_block_names_is_no_word_of_the_compiler(body: str, says: str) -> None:
    launch = '/// launch\n[[launch]]\nkernel = "f"\ngrid = ["1"]\nblock = ["1"]\n///'.replace("\n", "\n// ")
    source = f"// {launch}\n__global__ void g() {{ {body} }}"
    with pytest.raises(Refused, match=says):
        prepare(parse_source(source, TOP.signature, Path("mine.cu")), "sm_90a")


def test_errors_of_ptxas_name_the_line_of_the_instruction(tmp_path: Path) -> None:
    source = (
        'extern "C" __global__ void k()\n{\n    asm volatile("setmaxnreg.inc.sync.aligned.u32 300;");\n}\n'
    )
    with pytest.raises(compiler.CompileFailed) as error:
        compiler.compile_source(source, file=tmp_path / "mine.cu", kernels=())
    assert error.value.line == 3
    assert "setmaxnreg.inc" in str(error.value)
    assert "line 0" not in str(error.value)
    assert "aborted" not in str(error.value)


def test_what_the_device_cannot_run_is_skipped() -> None:
    with pytest.raises(Refused, match="needs sm_100") as caught:
        prepare(dataclasses.replace(TOP, smallest_arch="sm_100"), "sm_90a")
    assert caught.value.verdict == "skip"


def test_an_error_that_is_not_known_as_one_is_told_without_the_warnings() -> None:
    warned = 'k.cu(4): warning #177-D: variable "i" was never referenced\n      int i = 3;\n          ^\n\n'
    remark = 'Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"\n\n'
    diagnostics = (Diagnostic("k.cu", 4, "warning", "variable", ""),)
    failed = CompileFailed(CompileError(f"{warned}{remark}no such thing\n", diagnostics), "", Path("k.cu"))
    assert failed.message == "no such thing"
    assert "variable" in CompileFailed(CompileError(warned, diagnostics), "", Path("k.cu")).message
