"""Grading what is right: every rung as a submission, and the ways a grade can be asked for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NoReturn

import pytest
from marking import Marking

from grader.emulator import metrics
from grader.emulator.nvrtc import disassembly
from grader.emulator.places import GIVEN, Listed, Place
from grader.errors import WarpladderError
from grader.judge.child.recording import MOST_PRINTED
from grader.judge.correctness.cases import CaseStore, make
from grader.judge.grade import grade, parse
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.explained import on_emulator
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.kernels.submission import compile_it
from grader.judge.profile import profile
from grader.judge.refused import Refused
from grader.judge.runners.runner import Runner
from grader.report.reproducing import again
from grader.results import CaseResult, CodeLine, Grade, Mismatch, Profile, from_json, to_json
from grader.workbook import topics
from grader.workbook.compiler import DEFAULT_ARCH
from grader.workbook.content import content_root

TOPICS = topics.discover()
SUBMISSIONS = Path(__file__).parents[1] / "submissions"


@pytest.mark.parametrize(
    ("name", "rung"),
    [("transpose", "02_shared_tile"), ("streams", "07_graph")],
)
def test_a_rung_as_a_submission_reaches_itself(name: str, rung: str, marked: Marking) -> None:
    """These stand for all, which tests/test_content.py sweeps."""
    topic = TOPICS[name]
    result = marked(topic, topic.rung(rung).path)
    assert (result.verdict, result.rung_reached) == ("pass", rung), result.reason
    top = rung == topic.rungs[-1].id
    assert (result.points == result.max_points) == top
    assert bool(result.hints) != top
    kinds = {"exact", "real"} if topic.special_inputs is None else {"exact", "real", "special"}
    assert {case.kind for case in result.cases} == kinds
    assert all(case.verdict == "pass" for case in result.cases)
    assert any(case.seed is None for case in result.cases), (
        "a secret seed stays secret where nothing is wrong"
    )


def test_a_failing_case_is_reproduced_by_its_command(marked: Marking) -> None:
    topic = TOPICS["gemm"]
    file = SUBMISSIONS / "gemm" / "drops_one_term.cu"
    failed = marked(topic, file).cases[-1]
    assert failed.reproduce is not None
    words = again(failed.reproduce).split()
    assert words[:4] == ["ladder", "grade", "gemm", str(file)]
    sizes = dict(word.split("=") for word in words if "=" in word)
    overrides = {name: int(value) for name, value in sizes.items()}
    assert marked(topic, file, failed.seed, overrides).cases[-1] == failed


@pytest.mark.parametrize(
    ("submission", "begins", "ends"),
    [
        ("missing_syncthreads", "Line 22: race", "On the GPU, `out`[0, 7] was 3, expected 4."),
        ("wrong_index_that_squares_hide", "`out` is wrong", "`out` is wrong"),
    ],
)
def test_what_is_behind_a_case_that_failed_on_a_gpu(submission: str, begins: str, ends: str) -> None:
    """An emulator looks; where it finds nothing, what the GPU's result showed remains."""
    topic = topics.load("transpose")
    file = Path(__file__).parents[1] / "submissions" / "transpose" / f"{submission}.cu"
    failed = KernelSubmission(name=str(file), file=topic.parse(file))
    compile_it(failed, DEFAULT_ARCH)
    failed.refusal = Refused("fail", "`out` is wrong")
    seen = Mismatch("out", [0, 7], 4.0, 3.0, allowed=0.0, wrong=1, elements=1023)
    failed.cases = [CaseResult({"M": 33, "N": 31}, 1, "fail", None, seen)]
    failed.last = make({"M": 33, "N": 31}, "exact")
    runner = Runner("emulator", DEFAULT_ARCH)
    on_emulator(failed, CaseRunner(topic, CaseStore(topic), runner))
    runner.close()
    assert failed.refusal.reason.startswith(begins)
    assert failed.refusal.reason.endswith(ends)


def test_a_kernel_of_another_topic_is_told_its_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(TOPICS["transpose"].rung("00_naive").path.read_text(encoding="utf-8"))
    with pytest.raises(WarpladderError) as error:
        parse(TOPICS["vector_add"], file)
    assert error.value.remedy == f"ladder grade transpose {file}"
    named = "__global__ void transpose(const float* x, const float *y, float* __restrict__ z, int N) {\n"
    assert topics.of_kernel(named, TOPICS["vector_add"]) == "", "a kernel may have any name"
    assert topics.of_kernel(named) == "", "transpose takes something else"
    assert topics.of_kernel(named.replace("transpose", "vector_add"), TOPICS["transpose"]) == "vector_add"
    own = [(topic, kernel) for topic in TOPICS.values() for kernel in topic.kernel_files]
    assert {topics.of_kernel(kernel.source, topic) for topic, kernel in own} == {""}


def test_atomics_do_not_hide_scattered_writes(tmp_path: Path, marked: Marking) -> None:
    topic = TOPICS["transpose"]
    store = "out[size_t(column) * M + row] = in[size_t(row) * N + column];"
    source = topic.rung("00_naive").path.read_text(encoding="utf-8")
    assert store in source
    file = tmp_path / "mine.cu"
    file.write_text(
        source.replace(store, "atomicExch(&out[size_t(column) * M + row], in[size_t(row) * N + column]);")
    )
    result = marked(topic, file)
    assert (result.verdict, result.rung_reached) == ("pass", "00_naive"), result.reason


def test_parameters_of_another_type_of_the_same_size_are_honest(tmp_path: Path, marked: Marking) -> None:
    topic = TOPICS["transpose"]
    source = topic.rung("00_naive").path.read_text(encoding="utf-8")
    for declared in ("const float* __restrict__ in", "float* __restrict__ out"):
        assert declared in source
        source = source.replace(declared, declared.replace("float", "unsigned"))
    file = tmp_path / "mine.cu"
    file.write_text(source)
    result = marked(topic, file)
    assert (result.verdict, result.rung_reached) == ("pass", "00_naive"), result.reason


def test_what_a_kernel_prints_is_shown(tmp_path: Path, marked: Marking) -> None:
    topic = TOPICS["transpose"]
    source = topic.rung("00_naive").path.read_text(encoding="utf-8")
    opening = source.index("{", source.index("void transpose"))
    greeting = ' if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y == 0) printf("M = %d\\n", M);'
    file = tmp_path / "mine.cu"
    file.write_text(source[: opening + 1] + greeting + source[opening + 1 :])
    result = marked(topic, file, problem_overrides={"M": 5, "N": 3})
    assert (result.verdict, result.printed) == ("pass", "M = 5\n"), result.reason
    assert profile(topic, file, problem_overrides={"M": 7, "N": 3}).printed == "M = 7\n"
    silent = marked(topic, topic.rung("00_naive").path, problem_overrides={"M": 5, "N": 3})
    assert silent.printed == ""


def test_static_and_dynamic_shared_memory_together_may_be_more_than_48_kib(
    tmp_path: Path, marked: Marking
) -> None:
    topic = TOPICS["transpose"]
    file = tmp_path / "mine.cu"
    source = topic.rung("02_shared_tile").path.read_text(encoding="utf-8")
    file.write_text(source.replace("// block =", '// shared = "48 * 1024"\n// block =', 1))
    result = marked(topic, file, problem_overrides={"M": 33, "N": 31})
    assert result.verdict == "pass", result.reason


def test_what_a_schedule_prints_is_shown(tmp_path: Path, marked: Marking) -> None:
    topic = TOPICS["streams"]
    file = tmp_path / "mine.py"
    source = topic.rung("00_naive").path.read_text(encoding="utf-8")
    file.write_text(source.replace("def run(self):\n", "def run(self):\n        print('N =', self.N)\n"))
    result = marked(topic, file, problem_overrides={"N": 5, "R": 3})
    assert (result.verdict, result.printed) == ("pass", "N = 5\n"), result.reason


def test_a_schedule_may_print_more_than_is_shown(tmp_path: Path, marked: Marking) -> None:
    topic = TOPICS["streams"]
    file = tmp_path / "mine.py"
    source = topic.rung("00_naive").path.read_text(encoding="utf-8")
    much = "import sys; [print('x' * (3 << 20), file=stream) for stream in (sys.stdout, sys.stderr)]"
    file.write_text(source.replace("def run(self):\n", f"def run(self):\n        {much}\n"))
    result = marked(topic, file, problem_overrides={"N": 5, "R": 3})
    assert result.verdict == "pass", result.reason
    assert result.printed == "x" * MOST_PRINTED


def test_a_grid_that_no_emulator_comes_to_the_end_of_is_refused(tmp_path: Path, marked: Marking) -> None:
    topic = TOPICS["transpose"]
    file = tmp_path / "mine.cu"
    file.write_text(
        '// /// launch\n// [[launch]]\n// kernel = "transpose"\n// grid = [1000000, 65535]\n'
        '// block = [1]\n// ///\nextern "C" __global__ void transpose(const float* in, float* out, int M, int N) {}\n'
    )
    result = marked(topic, file)
    assert result.verdict == "error"
    assert "65,535,000,000 blocks" in (result.reason or "")


def test_chosen_sizes_alone_give_neither_rung_nor_points(marked: Marking) -> None:
    topic = TOPICS["transpose"]
    result = marked(topic, topic.rungs[0].path, None, {"M": 33, "N": 31})
    assert result.verdict == "pass"
    assert [case.problem for case in result.cases] == [{"M": 33, "N": 31}] * 3
    assert (result.rung_reached, result.points, result.counters) == (None, 0, None)
    assert "--set" in result.hints[0].text


def test_a_file_that_is_not_there_is_an_unusable_call(tmp_path: Path) -> None:
    with pytest.raises(WarpladderError, match="no such file"):
        grade(TOPICS["gemm"], tmp_path / "mine.cu", "emulator")


def test_a_size_that_the_topic_does_not_have_is_an_unusable_call() -> None:
    topic = TOPICS["transpose"]
    with pytest.raises(WarpladderError, match="no size `K`"):
        grade(topic, topic.rungs[0].path, "emulator", None, {"K": 3})


def test_a_grade_survives_json(marked: Marking) -> None:
    topic = TOPICS["gemm"]
    result = marked(topic, SUBMISSIONS / "gemm" / "returns_nan.cu")
    assert result.cases[-1].first_mismatch is not None
    assert result.cases[-1].first_mismatch.actual == "nan"
    assert from_json(to_json(result), Grade) == result


def test_a_profile_tells_lines_apart() -> None:
    topic = TOPICS["transpose"]
    result = profile(topic, topic.rung("02_shared_tile").path, problem_overrides={"M": 64, "N": 64})
    assert (result.verdict, result.problem) == ("pass", {"M": 64, "N": 64})
    (launch,) = result.launches
    assert launch.counters is not None
    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
    guilty = [line for line in launch.lines if line.counters.get(conflicts)]
    assert [line.counters[conflicts] for line in guilty] == [launch.counters[conflicts]]
    source = topic.rung("02_shared_tile").source.splitlines()
    assert guilty[0].source == source[guilty[0].line - 1].strip()
    assert from_json(to_json(result), Profile) == result


def test_ptx_is_counted_by_instruction_and_adds_up_to_its_source_lines() -> None:
    topic = TOPICS["transpose"]
    result = profile(
        topic, topic.rung("02_shared_tile").path, problem_overrides={"M": 64, "N": 64}, code="ptx"
    )
    (launch,) = result.launches
    found: dict[int, Counter[str]] = {}
    for each in launch.code:
        found.setdefault(each.line, Counter()).update(each.counters or {})
    assert {line.line: line.counters for line in launch.lines} == found
    (stored,) = {
        each.text.split()[0]
        for each in launch.code
        if each.counters and each.counters.get(metrics.SHARED_CONFLICTS["ld"])
    }
    assert stored == "ld.shared.f32"
    assert from_json(to_json(result), Profile) == result


def test_sass_stands_at_its_source_lines_and_takes_nvdisasm(monkeypatch: pytest.MonkeyPatch) -> None:
    topic = TOPICS["transpose"]
    rung, sizes = topic.rung("02_shared_tile").path, {"M": 64, "N": 64}
    listed = [Listed("0010", "LDS R9, [R16]", Place(GIVEN, 52))]
    monkeypatch.setattr(disassembly, "nvdisasm", lambda: "nvdisasm")
    monkeypatch.setattr(disassembly, "listed", lambda *_: listed)
    (launch,) = profile(topic, rung, problem_overrides=sizes, code="sass").launches
    assert launch.code == [CodeLine("0010", "LDS R9, [R16]", 52, None, None)]

    def missing() -> NoReturn:
        raise disassembly.NvdisasmNotFound("nvdisasm is not installed")

    monkeypatch.setattr(disassembly, "nvdisasm", missing)
    with pytest.raises(WarpladderError, match=r"(?s)not installed.*pip install nvidia-cuda-nvdisasm"):
        profile(topic, rung, problem_overrides=sizes, code="sass")


def test_a_schedule_has_no_machine_code() -> None:
    topic = TOPICS["streams"]
    with pytest.raises(WarpladderError, match=r"(?s)no machine code.*leave out --ptx"):
        profile(topic, topic.rung("03_two_streams").path, code="ptx")


def test_a_profile_of_a_wrong_kernel_has_its_findings() -> None:
    sizes = {"M": 65, "N": 66, "K": 67}
    result = profile(
        TOPICS["gemm"], SUBMISSIONS / "gemm" / "out_of_bounds_by_one.cu", problem_overrides=sizes
    )
    assert result.verdict == "fail"
    found = result.launches[0].findings[0]
    assert (found.kind, found.tool, found.action, found.size) == ("out_of_bounds", "memcheck", "write", 4)
    size = result.problem
    assert (found.array, found.shape) == ("C", [size["M"], size["N"]])
    assert found.element is not None
    assert found.element >= size["M"] * size["N"]
    assert (found.offset, found.allocation_bytes) == (4 * found.element, 4 * size["M"] * size["N"])
    assert f"writes `C`[{found.element}], where `C` has" in found.message


def test_a_scratch_array_has_its_name_in_findings(marked: Marking) -> None:
    topic = TOPICS["reduce"]
    found = marked(topic, SUBMISSIONS / "reduce" / "missing_threadfence.cu").findings[0]
    assert (found.array, found.element, found.space, found.scope) == ("sums", 0, "global", "grid")
    assert "in `sums`[0]" in found.message
    assert found.other is not None
    assert (found.other.action, found.other.block, found.other.thread) == ("write", [0, 0, 0], None)


def test_profiles_come_from_the_emulator() -> None:
    with pytest.raises(WarpladderError, match="a GPU keeps no counters"):
        profile(TOPICS["gemm"], content_root() / "kernels" / "naive" / "gemm.cu", "pycuda")
