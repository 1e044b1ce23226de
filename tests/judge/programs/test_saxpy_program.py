"""The exercise SAXPY: its answer passes, mistakes in it are told with line and remedy, and the remedy mends them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from tiers import sample

from grader.errors import WarpladderError
from grader.judge.programs.judging import judge
from grader.results import Grade
from grader.workbook import programs
from grader.workbook.programs import Program

LAUNCH = "saxpy<<<grid, block>>>(n, a, d_x, d_y);"
BACK = "CHECK(cudaMemcpy(y.data(), d_y, nbytes, cudaMemcpyDeviceToHost));"
X_THERE = "CHECK(cudaMemcpy(d_x, x.data(), nbytes, cudaMemcpyHostToDevice));"
Y_THERE = "CHECK(cudaMemcpy(d_y, y.data(), nbytes, cudaMemcpyHostToDevice));"
TIME = "CHECK(cudaEventElapsedTime(&ms, start, stop));"
WAIT = "CHECK(cudaEventSynchronize(stop));"
MALLOC = "CHECK(cudaMalloc(&d_x, nbytes));"
FREE = "CHECK(cudaFree(d_y));"
START, RECORD = "CHECK(cudaEventRecord(start));", "CHECK(cudaEventRecord(stop));"
ZERO = "float ms = 0;"
LOOP = """for (int i = 0; i < n; i++)
        y[i] = back[i];"""
THROUGH_PINNED = f"""float *back;
    CHECK(cudaMallocHost(&back, nbytes));
    CHECK(cudaMemcpyAsync(back, d_y, nbytes, cudaMemcpyDeviceToHost));
    {LOOP}
    CHECK(cudaFreeHost(back));"""
Edit = tuple[str, str]


@dataclass(frozen=True)
class Bug:
    """A mistake, put into the answer."""

    edit: Edit
    kind: str
    line: str  # of the mistaken program, as far as it has to be told apart
    remedy: str  # what the remedy says
    mended: Edit | None = None  # the remedy, as it says; None: it is to undo the edit
    also: Edit | None = None  # a second place of the mistake


BUGS = {
    "rounded_down": Bug(
        ("(n + block - 1) / block", "n / block"), "output", LAUNCH, "round the number of blocks up"
    ),
    "never_copied_back": Bug(
        (BACK, ""), "output", LAUNCH, "Copy it to the host after the launch", (LAUNCH, f"{LAUNCH} {BACK}")
    ),
    "x_never_copied": Bug(
        (X_THERE, ""), "output", LAUNCH, "Before the launch, copy x to d_x", (LAUNCH, f"{X_THERE} {LAUNCH}")
    ),
    "size_in_elements": Bug(
        (X_THERE, X_THERE.replace("nbytes", "n")), "copy_size", "x.data()", "multiply the number of elements",
        ("x.data(), n,", "x.data(), n * sizeof(float),"),
    ),
    "allocated_in_elements": Bug(
        (MALLOC, MALLOC.replace("nbytes", "n")), "copy_size", "x.data()", "Allocate `d_x` in bytes as well",
        ("&d_x, n", "&d_x, n * sizeof(float)"),
    ),
    "wrong_direction": Bug(
        (Y_THERE, Y_THERE.replace("HostToDevice", "DeviceToHost")), "copy_direction", "CHECK(cudaMemcpy(d_y",
        "Name the direction that the pointers have",
    ),
    "leak": Bug((FREE, ""), "leak", "cudaMalloc(&d_y", "Call cudaFree", ("return 0;", f"{FREE} return 0;")),
    "event_kept": Bug(
        ("CHECK(cudaEventDestroy(start));", ""), "leak", "cudaEventCreate(&start)", "Call cudaEventDestroy",
        ("return 0;", "CHECK(cudaEventDestroy(start)); return 0;"),
    ),
    "freed_too_early": Bug(
        (BACK, f"{FREE} {BACK} d_y = nullptr;"), "use_after_free", BACK, "Free memory after the last call that uses it"
    ),
    "freed_twice": Bug((FREE, f"{FREE} cudaFree(d_y);"), "double_free", FREE, "Free it once"),
    "block_too_large": Bug(
        ("block = 256", "block = 2048"), "launch_failed", LAUNCH, "Launch with what the device allows"
    ),
    "launch_of_nothing": Bug(
        ("if (grid > 0)", "if (true)"), "launch_failed", LAUNCH, "launch nothing where there are no elements"
    ),
    "host_reads_the_device": Bug(
        ("return 0;", "return d_x != nullptr && d_x[0] > 0;"), "crash", "return d_x", "copied to it with cudaMemcpy"
    ),
    "time_before_the_event": Bug(
        (f"{WAIT}\n\n    {BACK}\n    {ZERO}\n    {TIME}", f"{ZERO}\n    {TIME}\n    {BACK}"), "error", TIME,
        "cudaEventSynchronize, before its time", (TIME, f"{WAIT} {TIME}"),
    ),
    "event_never_recorded": Bug(
        (RECORD, ""), "error", TIME, "record them with cudaEventRecord", (WAIT, f"{RECORD} {WAIT}")
    ),
    "read_too_early": Bug(
        (BACK, THROUGH_PINNED), "too_early", "y[i] = back[i];", "Wait first: cudaStreamSynchronize",
        (LOOP, f"CHECK(cudaDeviceSynchronize());\n    {LOOP}"),
    ),
    "events_beside_the_kernel": Bug(
        (RECORD, ""), "time", LAUNCH, "and cudaEventRecord(stop) after it", (LAUNCH, f"{LAUNCH} {RECORD}"),
        also=(START, f"{START} {RECORD}"),
    ),
    "launch_unchecked": Bug(
        ("CHECK(cudaGetLastError());", ""), "unnoticed", LAUNCH, "ask cudaGetLastError() right after it",
        (LAUNCH, f"{LAUNCH} CHECK(cudaGetLastError());"),
    ),
    "allocation_unchecked": Bug(
        (MALLOC, "cudaMalloc(&d_x, nbytes);"), "unnoticed", "cudaMalloc(&d_x", "CHECK(…) around the call"
    ),
    "said_and_gone_on": Bug(
        ("std::exit(EXIT_FAILURE);", ""), "unnoticed", MALLOC, "end the program with a status other than 0"
    ),
    "ended_without_a_word": Bug(
        ("cudaGetErrorString(status)", '"failed"'), "unnoticed", MALLOC, "print cudaGetErrorString"
    ),
    "fails_where_all_is_well": Bug(("return 0;", "return 1;"), "status", "int main", "Return 0 from main"),
    "prints_nothing": Bug(
        ('std::printf("checksum', '// ("checksum'), "output", '"checksum', "Print it: std::printf"
    ),
}  # fmt: skip
QUICK = ("wrong_direction",)


@pytest.fixture(scope="module")
def saxpy() -> Program:
    found = programs.find("saxpy")
    assert found is not None
    return found


def written(folder: Path, text: str) -> Path:
    path = folder / "main.cu"
    path.write_text(text)
    return path


def edited(text: str, edit: Edit) -> str:
    assert text.count(edit[0]) == 1, edit[0]
    return text.replace(*edit)


@pytest.mark.verify
def test_the_answer_passes_with_every_failure_reported(saxpy: Program) -> None:
    grade = judge(saxpy, saxpy.answer)
    assert (grade.verdict, grade.points, grade.findings) == ("pass", 10, [])
    sizes = [case.problem["N"] for case in grade.cases]
    assert {0, 1} < set(sizes)
    assert any(size % 32 for size in sizes if size > 1)
    assert all(claim.held for claim in grade.claims)
    told = " ".join(claim.text for claim in grade.claims)
    assert [told.count(name) for name in ("cudaMalloc", "cudaMemcpy", "the launch", "the kernel")] == [
        2,
        3,
        1,
        1,
    ]


@pytest.mark.parametrize("name", sample(BUGS, QUICK, "judge"))
def test_a_bug_is_told_with_its_line_and_the_remedy_mends_it(
    saxpy: Program, tmp_path: Path, name: str
) -> None:
    bug, answer = BUGS[name], saxpy.answer.read_text()
    wrong = edited(answer, bug.edit)
    wrong = wrong if bug.also is None else edited(wrong, bug.also)
    path = written(tmp_path, wrong)
    grade = judge(saxpy, path)
    assert grade.verdict == "fail"
    first = grade.findings[0]
    assert first.kind == bug.kind
    assert bug.line in wrong.splitlines()[(first.line or 0) - 1]
    assert bug.remedy in (first.remedy or "")
    assert f"{path}:{first.line}: " in (grade.reason or "")
    if bug.mended is not None:
        mended = judge(saxpy, written(tmp_path, edited(wrong, bug.mended)))
        assert (mended.verdict, mended.reason) == ("pass", None)


def test_what_does_not_compile_is_an_error_with_its_line(saxpy: Program, tmp_path: Path) -> None:
    grade = judge(saxpy, written(tmp_path, "int main() {\n    return nowhere;\n}\n"))
    assert grade.verdict == "error"
    assert 'main.cu:2: identifier "nowhere" is undefined' in (grade.reason or "")


@pytest.mark.verify
def test_one_run_is_seen_again_with_its_arguments(saxpy: Program, tmp_path: Path) -> None:
    text = edited(saxpy.answer.read_text(), ("return 0;", "return n == 77;"))
    grade: Grade = judge(saxpy, written(tmp_path, text), only={"a": 2, "N": 77}, seed=5)
    (case,) = grade.cases
    assert (case.verdict, case.problem, case.seed) == ("fail", {"N": 77, "a": 2}, 5)
    assert judge(saxpy, written(tmp_path, text), only={"N": 76, "a": 2}).verdict == "pass"


@pytest.mark.verify
def test_a_program_that_never_ends_is_ended(
    saxpy: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.judge.programs.judging.LIMIT_S", 3.0)
    grade = judge(saxpy, written(tmp_path, "int main() {\n    for (volatile int i = 0;; i = i + 1) {}\n}\n"))
    assert (grade.verdict, grade.points) == ("timeout", 0)
    assert "endless loop" in (grade.reason or "")


def test_an_architecture_that_is_not_emulated_is_refused(saxpy: Program) -> None:
    with pytest.raises(WarpladderError, match="no emulated GPU of architecture 'sm_20'") as refused:
        judge(saxpy, saxpy.answer, arch="sm_20")
    assert refused.value.remedy == "give one of these to --arch"
