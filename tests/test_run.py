"""`ladder run` before the program runs: which device, and what cannot be compiled, in words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from records import at, record

from grader import gpu, run
from grader.emulator import metrics
from grader.emulator.cudart import process, toolchain
from grader.emulator.cudart.events import Refusal
from grader.emulator.cudart.toolchain import NotThere
from grader.emulator.machine.records import Counted, Finding
from grader.emulator.places import Place
from grader.errors import WarpladderError
from grader.results import SourceLine


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "prog.cu"
    path.write_text("int main() {}\n")
    return path


def refuse(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Have compiling and running a program end so."""

    def run_program(*_: object) -> NoReturn:
        raise error

    monkeypatch.setattr(process, "run", run_program)


def test_behind_a_program_stand_its_other_sources_then_its_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.cu", "b.cpp", "notes.txt"):
        (tmp_path / name).touch()
    split = run.sources_and_arguments
    assert split(["a.cu", "b.cpp", "8", "a.cu"]) == (["a.cu", "b.cpp"], ["8", "a.cu"])
    assert split(["a.cu", "--", "b.cpp"]) == (["a.cu"], ["b.cpp"])
    assert split(["not_there.cu", "a.cu"]) == ([], ["not_there.cu", "a.cu"])
    assert split(["notes.txt", "--", "a.cu"]) == ([], ["notes.txt", "--", "a.cu"])
    assert split(["a.cu"]) == (["a.cu"], [])


@pytest.mark.parametrize(
    ("missing", "said", "remedy"),
    [
        (
            ["cudaIpcOpenMemHandle"],
            "prog.cu:3: cudaIpcOpenMemHandle is not known to ladder run without a GPU",
            "leave it out, or run the program on a machine with a GPU",
        ),
        (
            ["cudaMallocArray", "cudaFreeArray"],
            "cudaMallocArray, cudaFreeArray are not known",
            "leave it out",
        ),
        (["cublasCreate_v2"], "cublasCreate_v2 is not known", "no other library of CUDA"),
        (["cuMemMap"], "cuMemMap is not known", "no other library of CUDA"),
        (["computeGold"], "computeGold is not defined", "prog.cu other.cpp"),
    ],
)
def test_what_the_linker_misses_is_refused_by_name(
    program: Path, monkeypatch: pytest.MonkeyPatch, missing: list[str], said: str, remedy: str
) -> None:
    refuse(monkeypatch, NotThere([(name, str(program), 3) for name in missing]))
    with pytest.raises(WarpladderError) as error:
        run.run(program, device="emulator")
    assert said in str(error.value)
    assert error.value.remedy is not None
    assert remedy in error.value.remedy


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("__global__ void transpose(const float *a, float* b, int M, int N)\n{}", "ladder grade transpose"),
        ("// /// launch\n__global__ void mine(float* b)\n{}", "ladder grade TOPIC"),
        ("__global__ void mine(float* b)\n{}", "name the file that defines it"),
    ],
)
def test_a_kernel_without_a_program_is_to_be_graded(
    program: Path, monkeypatch: pytest.MonkeyPatch, text: str, remedy: str
) -> None:
    refuse(monkeypatch, NotThere([("main", str(program), 0)]))
    program.write_text(text)
    with pytest.raises(WarpladderError) as error:
        run.run(program, device="emulator")
    assert error.value.remedy is not None
    assert error.value.remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("header", "said", "remedy"),
    [
        (
            "cublas_v2.h",
            "there is no header cublas_v2.h, as cuBLAS is not emulated",
            "no other library of CUDA",
        ),
        ("mine/part.h", "there is no header mine/part.h", "--nvcc=-I../common"),
    ],
)
def test_a_header_that_is_not_there_is_named_with_its_line_and_library(
    program: Path, monkeypatch: pytest.MonkeyPatch, header: str, said: str, remedy: str
) -> None:
    text = f"{program}:2:10: fatal error: {header}: No such file or directory"
    refuse(monkeypatch, toolchain.ProgramRefused(f"{text}\n    2 | #include\ncompilation terminated."))
    with pytest.raises(WarpladderError) as error:
        run.run(program, device="emulator")
    assert str(error.value).splitlines()[0] == f"{program}:2: {said}"
    assert remedy in (error.value.remedy or "")


@pytest.mark.parametrize(
    ("file", "kind", "remedy"),
    [
        ("{program}", "texture", "cudaCreateTextureObject()"),
        ("common/image.cuh", "surface", "cudaCreateSurfaceObject()"),
    ],
)
def test_references_are_refused_by_name_with_the_objects_that_took_their_place(
    program: Path, monkeypatch: pytest.MonkeyPatch, file: str, kind: str, remedy: str
) -> None:
    file = file.format(program=program)
    text = f"{file}(2): error: {kind} is not a template\n  {kind}<float, 2> image;\n  ^\n"
    error_behind = f'{program}(9): error: identifier "cudaBind" is undefined'
    refuse(monkeypatch, toolchain.ProgramRefused(f"{text}{error_behind}"))
    with pytest.raises(WarpladderError) as error:
        run.run(program, device="emulator")
    assert str(error.value).splitlines()[0] == f"{file}:2: {kind} references are gone since CUDA 12"
    assert remedy in (error.value.remedy or "")


def test_what_another_file_calls_is_refused_with_that_file(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, NotThere([("cudaGraphCreate", "common/graphs.h", 7)]))
    with pytest.raises(WarpladderError, match=r"^common/graphs\.h:7: cudaGraphCreate is not known"):
        run.run(program, device="emulator")


def test_a_compiler_that_is_not_there_is_named(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain.host_compiler.cache_clear()
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(WarpladderError, match=r"no C\+\+ compiler no-such-compiler\n.*unset CXX"):
        run.run(program, device="emulator")


@pytest.mark.parametrize(
    ("found", "said"),
    [(None, "no NVIDIA driver"), (gpu.Gpu("Tesla T4", (12, 4), (7, 5)), "the driver knows no CUDA 13")],
)
def test_a_gpu_that_cannot_run_it_is_said_and_not_taken(
    program: Path, monkeypatch: pytest.MonkeyPatch, found: gpu.Gpu | None, said: str
) -> None:
    monkeypatch.setattr(gpu, "find", lambda: found)
    with pytest.raises(WarpladderError, match=said):
        run.run(program, device="gpu")
    emulated = process.Outcome(status=3)
    monkeypatch.setattr(process, "run", lambda *_: emulated)
    assert run.run(program) is emulated


def test_an_architecture_that_is_not_emulated_is_refused(program: Path) -> None:
    with pytest.raises(WarpladderError, match="no emulated GPU of architecture"):
        run.run(program, device="emulator", arch="sm_20")


def test_launches_that_are_alike_are_one_in_a_profile(program: Path) -> None:
    (program.parent / "tiles.cuh").write_text("\n    load();\n")
    inlined = Place("tiles.cuh", 2, at(1))
    executed = metrics.WARP_INSTRUCTIONS
    one = record(
        counters={executed: 5},
        lines=(Counted(at(1), {executed: 2}), Counted(inlined, {executed: 3})),
        findings=(Finding("race", inlined, 4),),
        dram_read_bytes=64,
    )
    launched = Place("prog.cu", 9)
    other = record(block=(64, 1, 1), counters={executed: 7})
    outcome = process.Outcome(launches=[(one, launched), (other, launched), (one, launched)])
    result = run.profile(outcome, program)
    alike, alone = result.launches
    assert (alike.times, alike.launched, alike.counters) == (2, SourceLine(9), {executed: 10})
    assert [(line.file, line.line, line.source, line.counters[executed]) for line in alike.lines] == [
        (None, 1, "int main() {}", 4),
        ("tiles.cuh", 2, "load();", 6),
    ]
    assert alike.lines[1].callers == [SourceLine(1)]
    assert [(found.file, found.line, found.count) for found in alike.findings] == [("tiles.cuh", 2, 8)]
    assert (alike.dram_bytes, alike.occupancy, alike.occupancy_limited_by) == (128, 0.5, "blocks")
    assert (alone.times, alone.block, alone.lines) == (1, [64, 1, 1], [])
    assert (result.verdict, result.reason) == ("fail", None)


def test_a_profile_says_what_was_refused(program: Path) -> None:
    refused = process.Outcome(refused=Refusal("cudaFuture is not emulated", "wait for it", None))
    result = run.profile(refused, program)
    assert (result.verdict, result.reason, result.launches) == ("error", "cudaFuture is not emulated", [])


def test_what_only_interviews_and_pages_need_is_not_loaded(tmp_path: Path) -> None:
    """An unchanged program starts again within a second, and loading them would take a third of that more."""
    missing = tmp_path / "missing.cu"  # told behind all that is loaded
    command = (
        f"import sys; from grader.ladder import app; app(['run', {str(missing)!r}], standalone_mode=False)"
    )
    listing = "print(*(name for name in sys.modules if name.startswith('grader.')))"
    code = (
        f"try:\n    {command}\nexcept BaseException as error:\n    print(type(error))\nimport sys\n{listing}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said, loaded = done.stdout.splitlines()
    assert "WarpladderError" in said
    assert "grader.emulator.cudart.process" in loaded.split()
    others = {
        name for name in loaded.split() if name.startswith(("grader.interview.", "grader.report.pages"))
    }
    commands = ("grader.interview.commands", "grader.interview.page.command")
    assert {name for name in others if not name.startswith(commands)} <= {"grader.interview.page"}
