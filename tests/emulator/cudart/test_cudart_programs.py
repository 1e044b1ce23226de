"""Whole CUDA C++ programs without a GPU: those in programs/ run right, each bug in bugs/ is found with its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tiers import sample

from grader.emulator.cudart.events import HostFinding, Outcome, Trial
from grader.emulator.cudart.process import compiled, run
from grader.emulator.cudart.status import NotEmulated
from grader.emulator.cudart.toolchain import NotThere, ProgramRefused

HERE = Path(__file__).parent
PROGRAMS = sorted(path.stem for path in (HERE / "programs").glob("*.cu"))
QUICK = ("vector_add", "streams_overlap")

BUGS = {
    "array_leak": ("leak", "row"),
    "cluster_too_large": ("launch_failed", None),
    "count_in_elements": ("copy_size", "d_x"),
    "double_free": ("double_free", "d_x"),
    "event_never_recorded": ("unchecked_error", None),
    "event_not_waited": ("unchecked_error", None),
    "host_reads_device": ("crash", None),
    "launch_failed": ("launch_failed", None),
    "leak": ("leak", "d_b"),
    "managed_before_sync": ("too_early", "x"),
    "printf_lost": ("lost_output", None),
    "read_before_sync": ("too_early", "h_x"),
    "source_overwritten": ("too_early", "h_x"),
    "too_much_copied": ("copy_size", None),
    "unchecked_error": ("unchecked_error", None),
    "use_after_free": ("use_after_free", "d_x"),
    "wrong_direction": ("copy_direction", "d_x"),
}
QUICK_BUGS = ("managed_before_sync", "use_after_free")


def run_program(path: Path, *arguments: str) -> Outcome:
    return run(path, arguments, "sm_90a")


@pytest.mark.parametrize("name", sample(PROGRAMS, QUICK, "emulator"))
def test_a_program_runs_right(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    path = HERE / "programs" / f"{name}.cu"
    wanted = re.findall(r"^// PRINTS: (.*)$", path.read_text(), re.MULTILINE)
    outcome = run_program(path)
    assert capfd.readouterr().out.splitlines() == wanted
    assert outcome.findings == []
    assert [record.findings for record, _ in outcome.launches if record.findings] == []
    assert (outcome.status, outcome.refused, outcome.exit_code) == (0, None, 0)


def test_names_from_before_cuda_13_are_told_once_with_their_line() -> None:
    path = HERE / "programs" / "before_cuda_13.cu"
    text = path.read_text().splitlines()
    outcome = run_program(path)
    assert outcome.status == 0
    told = {each.name: each for each in outcome.gone}
    assert len(told) == len(outcome.gone)
    members = {"clockRate", "memoryClockRate", "deviceOverlap", "computeMode", "kernelExecTimeoutEnabled"}
    members |= {"maxTexture1DLinear"}
    threads = {"Synchronize", "Exit", "SetLimit", "GetLimit", "SetCacheConfig", "GetCacheConfig"}
    wanted = {f"cudaDeviceProp::{name}" for name in members} | {f"cudaThread{name}" for name in threads}
    assert told.keys() == wanted
    for name, each in told.items():
        assert each.place.file == path.name
        statement = " ".join(text[each.place.line - 1 : each.place.line + 1])  # the line is where that begins
        assert name.removeprefix("cudaDeviceProp::") in statement
    assert told["cudaThreadSynchronize"].instead == "cudaDeviceSynchronize()"
    with compiled(path, "sm_90a") as program:
        calls = program.run([], trial=Trial()).calls
    assert [call.name for call in calls][:2] == ["cudaGetDeviceProperties", "cudaDeviceGetPCIBusId"]


@pytest.mark.parametrize("name", sample(BUGS, QUICK_BUGS, "emulator"))
def test_a_bug_is_found_with_its_line(name: str) -> None:
    path = HERE / "bugs" / f"{name}.cu"
    (line,) = [n for n, text in enumerate(path.read_text().splitlines(), 1) if text.endswith("// BUG")]
    outcome = run_program(path)
    (found,) = outcome.findings
    assert found.place is not None
    assert (found.place.file, found.place.line) == (path.name, line)
    assert (found.kind, found.array) == BUGS[name]
    assert outcome.exit_code != 0


def test_every_planted_bug_is_tried() -> None:
    assert {path.stem for path in (HERE / "bugs").glob("*.cu")} == {*BUGS, "out_of_bounds"}


@pytest.mark.verify
def test_an_access_out_of_bounds_names_the_array_of_the_host() -> None:
    outcome = run_program(HERE / "bugs" / "out_of_bounds.cu")
    ((record, place),) = outcome.launches
    (found,) = record.findings
    assert (record.kernel, str(place)) == ("fill", "out_of_bounds.cu:11")
    assert (found.kind, found.line, found.array, found.element) == ("out_of_bounds", 4, "d_out", 1000)
    assert outcome.exit_code == 1


def write(folder: Path, text: str) -> Path:
    path = folder / "prog.cu"
    path.write_text(text)
    return path


def test_what_is_not_there_is_refused_by_name_and_line(tmp_path: Path) -> None:
    path = write(
        tmp_path, "int main() {\n  cudaArray_t level;\n  cudaGetMipmappedArrayLevel(&level, nullptr, 0);\n}\n"
    )
    with pytest.raises(NotThere) as error:
        run_program(path)
    ((name, file, line),) = error.value.missing
    assert (name, Path(file).name, line) == ("cudaGetMipmappedArrayLevel", "prog.cu", 3)


@pytest.mark.verify
def test_a_call_that_is_not_emulated_is_refused_by_name_and_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # which would keep C from buffering, too
    path = write(
        tmp_path,
        '#include <cstdio>\nint main() {\n  static int h;\n  int *d;\n  std::puts("before");\n'
        "  cudaHostRegister(&h, sizeof h, cudaHostRegisterMapped);\n  cudaHostGetDevicePointer(&d, &h, 0);\n}\n",
    )
    outcome = run_program(path)
    assert outcome.refused is not None
    assert (str(outcome.refused.place), outcome.exit_code) == ("prog.cu:7", 2)
    assert "cudaHostGetDevicePointer" in outcome.refused.what
    assert "cudaHostAlloc" in outcome.refused.remedy
    assert capfd.readouterr().out == "before\n"


@pytest.mark.verify
def test_each_translation_unit_has_kernels_and_variables_of_its_own(
    capfd: pytest.CaptureFixture[str],
) -> None:
    parts = [HERE / "units" / folder / "part.cu" for folder in ("first", "second")]
    outcome = run(HERE / "units" / "prog.cu", [], "sm_90a", list(map(str, parts)))
    assert capfd.readouterr().out == "112 112 243 1355\n0 32 64\n"
    text = parts[0].read_text().splitlines()
    fault, call = (
        next(n for n, line in enumerate(text, 1) if line.endswith(mark)) for mark in ("// FAULT", "// CALL")
    )
    ((finding, place),) = [(each, place) for record, place in outcome.launches for each in record.findings]
    assert (finding.kind, str(finding.place), str(place)) == (
        "out_of_bounds", f"first/part.cu:{fault}", f"first/part.cu:{call}",
    )  # fmt: skip
    assert (outcome.status, outcome.findings, len(outcome.launches)) == (0, [], 3)


@pytest.mark.verify
def test_linking_of_device_code_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
    with pytest.raises(NotEmulated, match="-rdc=true"):
        run(path, [], "sm_90a", ["-rdc=true"])


def test_what_does_not_compile_is_said_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ProgramRefused, match=r'prog\.cu\(2\): error: .*"nowhere"'):
        run_program(write(tmp_path, "int main() {\n  return nowhere;\n}\n"))


@pytest.mark.verify
def test_a_program_has_its_arguments_status_and_other_files(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.cpp").write_text("#include <cstdlib>\nint other() { std::exit(7); }\n")
    path = write(
        tmp_path,
        "#include <cstdio>\nint other();\n"
        'int main(int n, char **a) { std::printf("%d %s\\n", n, a[1]); return n > 1 ? other() : 0; }\n',
    )
    outcome = run(path, ["--many"], "sm_90a", [str(tmp_path / "other.cpp")])
    assert (outcome.status, outcome.exit_code) == (7, 7)
    assert capfd.readouterr().out == "2 --many\n"


@pytest.mark.verify
def test_an_error_that_the_program_looks_at_is_no_finding(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "int main() {\n  void *p;\n  cudaMalloc(&p, size_t(1) << 50);\n"
        "  if (cudaGetLastError() != cudaErrorMemoryAllocation) return 5;\n"
        "  cudaError_t status = cudaMalloc(&p, size_t(1) << 50);\n  return status == cudaSuccess;\n}\n",
    )
    outcome = run_program(path)
    assert (outcome.findings, outcome.exit_code) == ([], 0)


@pytest.mark.verify
def test_the_colour_of_a_texture_border_has_four_channels(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(
        tmp_path,
        "#include <cstdio>\n__managed__ float4 x;\n"
        "__global__ void outside(cudaTextureObject_t t) { x = tex1D<float4>(t, -1); }\n"
        "int main() {\n  cudaResourceDesc what = {};\n  cudaTextureDesc how = {};\n"
        "  const auto floats = cudaCreateChannelDesc<float4>();\n  cudaTextureObject_t t;\n"
        "  cudaMallocArray(&what.res.array.array, &floats, 8);\n"
        "  how.addressMode[0] = cudaAddressModeBorder;\n"
        "  for (int i = 0; i < 4; i++) how.borderColor[i] = i + 1;\n"
        "  cudaCreateTextureObject(&t, &what, &how, nullptr);\n  outside<<<1, 1>>>(t);\n"
        '  cudaDeviceSynchronize();\n  std::printf("%g %g %g %g\\n", x.x, x.y, x.z, x.w);\n'
        "  cudaDestroyTextureObject(t);\n  cudaFreeArray(what.res.array.array);\n}\n",
    )
    outcome = run_program(path)
    assert (outcome.findings, outcome.refused, outcome.exit_code) == ([], None, 0)
    assert capfd.readouterr().out == "1 2 3 4\n"


@pytest.mark.verify
def test_what_a_kernel_breaks_stays_broken(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "__global__ void stop() { __trap(); }\n"
        "int main() {\n  stop<<<1, 1>>>();\n  void *p;\n"
        "  if (cudaDeviceSynchronize() != cudaErrorLaunchFailure) return 5;\n"
        "  if (cudaMalloc(&p, 4) != cudaErrorLaunchFailure) return 6;\n"
        "  if (cudaDeviceReset() != cudaSuccess) return 7;\n"
        "  return cudaMalloc(&p, 4) == cudaSuccess && cudaFree(p) == cudaSuccess ? 0 : 8;\n}\n",
    )
    outcome = run_program(path)
    assert outcome.status == 0
    assert [finding.kind for finding in outcome.launches[0][0].findings] == ["trap"]


@pytest.mark.verify
def test_memory_that_is_freed_is_not_given_again_at_once(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "int main() {\n  int *a, *b, x = 1;\n  cudaMalloc(&a, 64);\n  cudaFree(a);\n  cudaMalloc(&b, 64);\n"
        "  cudaMemcpy(a, &x, sizeof x, cudaMemcpyHostToDevice);\n  cudaFree(b);\n}\n",
    )
    (found,) = run_program(path).findings
    assert isinstance(found, HostFinding)
    assert (found.kind, found.array, str(found.place), str(found.other)) == (
        "use_after_free", "a", "prog.cu:6", "prog.cu:4",
    )  # fmt: skip
