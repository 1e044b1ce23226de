"""Views of results, from results made up here: everything fits 80 columns and says how it is known."""

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.report import console, notices, profiles, records, words
from grader.report.grades import hints
from grader.report.grades.corners import corner
from grader.report.terminal import terminal, unbroken
from grader.results import (
    Baseline,
    Bound,
    CaseResult,
    ClaimResult,
    Climb,
    CodeLine,
    Corner,
    Device,
    FindingResult,
    Grade,
    Hint,
    LaunchProfile,
    LineCost,
    LineProfile,
    Mismatch,
    Profile,
    Provenance,
    Reproduce,
    RungResult,
    SourceLine,
    TimeLimit,
)
from grader.workbook import topics, units

UNIT = "sectors a warp's multiply-add"
NAIVE = RungResult(
    "00_naive",
    "kernels/naive/gemm.cu",
    "pass",
    time_s=0.2843,
    time_source="measured",
    time_low_s=0.28,
    time_high_s=0.29,
    vs_naive=1.0,
    vs_library=0.0087,
    vs_bound=0.0075,
    registers=128,
    shared_bytes=227 * 1024,
    occupancy=0.125,
    counters={
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 16_500_000,
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 1_000_000,
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": 1_015_808,
    },
    counter_source="emulated",
    claims=[
        ClaimResult("loads are coalesced", False, 16.5e6, "00_naive", 10, "ld <= 4", 4e6, per=5e5, unit=UNIT)
    ],
)
BROKEN = RungResult(
    "03_register_tile_one_dimension", "x.cu", "fail", "`C`[3, 4] is 12, expected 13. " + "Look again. " * 20
)
LIBRARY = Baseline("cupy.matmul (cuBLAS)", 0.0027)
BOUND = Bound(0.00212, "arithmetic", source="modelled")
CLIMB = Climb(
    "gemm",
    Device("gpu", "NVIDIA H200", "sm_90a"),
    {"M": 4096, "N": 4096, "K": 4096},
    {"M": 512, "N": 512, "K": 512},
    Provenance("0.1.0", "3.12.1", "2.4.0"),
    [NAIVE, BROKEN],
    [LIBRARY],
    BOUND,
)


def shown(view: RenderableType) -> str:
    """What a terminal of 80 columns without colour would show."""
    screen = terminal(width=80, color_system=None, highlight=False)
    with screen.capture() as capture:
        screen.print(view)
    text = capture.get()
    assert all(len(line) <= 80 for line in text.splitlines()), text
    return " ".join(text.split())


def test_what_is_coalesced_depends_on_the_elements() -> None:
    for topic, said in (
        ("layernorm", "a thread's bytes: 2 (halves) to 16."),
        ("gemm", "a thread's bytes: 4 (floats) to 16."),
        ("gone", "4 (floats) to 16."),
    ):
        assert said in shown(console.climb(replace(CLIMB, topic=topic), "A title"))
    both = shown(console.climbs([replace(CLIMB, topic=topic) for topic in ("gemm", "layernorm")], ["", ""]))
    assert "a thread's bytes: 2 (halves), 4 (floats) to 16." in both


@pytest.mark.parametrize("width", range(40, 90, 7))
def test_no_line_of_a_title_ends_within_a_size(width: int) -> None:
    sizes = {"B": 32, "H": 64, "KV": 8, "T": 16384}
    screen = terminal(width=width, color_system=None, highlight=False)
    with screen.capture() as capture:
        screen.print(
            console.climb(replace(CLIMB, problem=sizes, counted=sizes | {"B": 8}), "Decoding, paged cache")
        )
    for size in ("H = 64", "KV = 8", "T = 16384"):
        assert capture.get().count(size) == 2


def test_a_measured_climb() -> None:
    text = shown(console.climb(CLIMB, "Matrix product, FP32"))
    for part in ("284 ms", "%lib", "0.87", "227K", "1.02M", "16.5", "fail", "expected 13", "cuBLAS): 2.7 ms"):
        assert part in text
    assert "✗ loads are coalesced (33 sectors a warp's multiply-add; at most 8 required)" in text
    assert "≈284" not in text
    assert "No version can take less than ≈2.12 ms" in text


def test_a_bound_says_which_units_it_is_of_and_who_comes_below() -> None:
    below = replace(NAIVE, id="12_tensor_cores", time_s=0.001)
    bound = replace(BOUND, units="FP32 units")
    text = shown(console.climb(replace(CLIMB, rungs=[NAIVE, below], bound=bound), "Matrix product, FP32"))
    assert "No version that computes on FP32 units can take less than ≈2.12 ms." in text
    assert "Below it, by other units or fewer operations: 12_tensor_cores." in text


def test_a_rung_that_the_device_cannot_run_says_what_it_needs() -> None:
    skipped = replace(BROKEN, verdict="skip", reason="needs sm_90a", time_s=None, claims=[])
    text = shown(console.climb(replace(CLIMB, rungs=[NAIVE, skipped]), "Matrix product, FP32"))
    assert text.count("needs sm_90a") == 1, text
    assert "– 03_register_tile" in text
    assert "✗ 03" not in text


def test_a_modelled_climb_says_so() -> None:
    modelled = replace(NAIVE, time_source="modelled", vs_library=None)
    text = shown(console.climb(replace(CLIMB, rungs=[modelled], baselines=[]), "Matrix product"))
    assert "≈284 ms" in text
    assert "%bound" in text
    assert "Not measured." in text


def test_the_columns_of_a_ladder_are_explained_above_it() -> None:
    text = shown(console.climb(CLIMB, "Matrix product, FP32"))
    assert "%lib: speed over the library's. regs: registers a thread." in text
    assert text.index("registers a thread") < text.index("00_naive")
    without = replace(CLIMB, rungs=[replace(NAIVE, vs_library=None)])
    text = shown(console.climb(without, "Matrix product, FP32"))
    assert "%bound: speed over the bound, the highest these units and operations allow." in text
    without = replace(CLIMB, rungs=[replace(NAIVE, vs_library=None, vs_bound=1.77)])
    text = shown(console.climb(without, "Matrix product, FP32"))
    assert "operations allow, more than 100 by others." in text


def test_what_a_ladder_is_timed_beside_is_explained_below_it() -> None:
    beside = [Baseline("CUB (DeviceReduce::Sum)", 1e-3), Baseline("device read", 2e-3)]
    text = shown(console.climb(replace(CLIMB, baselines=beside), "Sum, FP32"))
    assert (
        "CUB (DeviceReduce::Sum): 1 ms device read: 2 ms device read: a kernel that reads as many bytes"
        in text
    )
    assert "CUB: NVIDIA's library of sums" in text
    assert "cuBLAS:" not in text


def test_claims_are_shown_on_request_and_of_rungs_that_do_not_pass() -> None:
    wrong = replace(NAIVE, id="01_wrong", verdict="fail", reason="It is wrong.")
    text = shown(console.climb(replace(CLIMB, rungs=[NAIVE, wrong]), "Matrix product, FP32", every=False))
    assert text.count("loads are coalesced") == 1
    assert "It is wrong." in text


def test_of_a_long_ladder_the_rungs_that_gain_most_are_shown_beside_others() -> None:
    times = (64, 60, 30, 29, 28, 14, 13, 7, 6.5, 6, 3, 2.9, 2.8)
    rungs = [replace(NAIVE, id=f"{n:02d}_rung", time_s=s * 1e-3) for n, s in enumerate(times)]
    text = shown(console.climbs([replace(CLIMB, rungs=rungs), CLIMB], ["Long", "Short"]))
    assert [n for n in range(13) if f"{n:02d}_rung" in text] == [0, 2, 5, 7, 9, 10, 12]
    assert "… 6 more: ladder climb gemm" in text
    assert text.count("registers a thread") == 1
    assert text.index("registers a thread") < text.index("Long") < text.index("Short")


def test_a_wrong_corner_has_the_digits_that_tell_its_numbers_apart() -> None:
    found = Corner([0], [[-1048576.0, -725512.0, 1e9, 0.33333]], [["nan", -725513.0, float("inf"), 0.33335]])
    mismatch = Mismatch("c", [0], -1048576.0, "nan", 0.0, 4, 4, found)
    text = " ".join(map(shown, corner(mismatch)))
    assert "-1048576 -725512 1e+09 0.33333 | nan -725513 inf 0.33335" in text


def test_beside_what_was_modelled_stands_what_was_measured() -> None:
    emulated = replace(CLIMB, device=Device("emulator", "NVIDIA H200 (emulated)", "sm_90a"))
    record = records.measured(emulated)
    assert record is not None
    text = shown(console.climb(emulated, "Matrix product", record))
    assert f"Measured on a real NVIDIA H200, rung by rung: {units.seconds(record.rungs[0].time_s)}," in text
    for width in (70, 74, 78):
        screen = terminal(width=width, color_system=None, highlight=False)
        with screen.capture() as capture:
            screen.print(console.climb(emulated, "Matrix product", record))
        prose = capture.get()
        assert not re.search(r"\d\n(?:[mµ]?s)\b", prose), prose
    assert records.measured(replace(emulated, problem={"M": 8, "N": 8, "K": 8})) is None
    assert records.measured(CLIMB) is None


def test_a_rung_that_the_record_lacks_is_said_to_be_not_measured() -> None:
    claims = [ClaimResult("it is new", True, None, "05_new", 10, "x <= 2")]
    rungs = [replace(NAIVE, id=name, claims=claims) for name in ("00_naive", "05_new", "06_old")]
    times = {"00_naive": 2.0, "06_old": 1.0}
    measured = replace(CLIMB, rungs=[replace(NAIVE, id=name, time_s=time) for name, time in times.items()])
    own = replace(NAIVE, id="99_mine", claims=[])
    climbed = replace(CLIMB, rungs=[*rungs, own])
    text = " ".join(shown(console.climb(climbed, "Matrix product", measured)).split())
    assert f"rung by rung: {units.seconds(2.0)}, not measured, {units.seconds(1.0)}." in text


def test_a_claim_says_on_which_side_of_its_limit_it_asks_to_be() -> None:
    claims = [ClaimResult(sign, False, 3.0, "a", 10, f"x {sign} 2", 2.0) for sign in ("<=", ">=", "==")]
    text = shown(console.claims(claims))
    for said in ("3 found; at most 2 required", "3 found; at least 2 required", "3 found; 2 required"):
        assert said in text


def test_claims_at_sizes_that_they_are_not_for_are_explained() -> None:
    away = replace(NAIVE, claims=[replace(NAIVE.claims[0], held=None)])
    assert "it says nothing" in shown(console.climb(replace(CLIMB, rungs=[away]), "Matrix product"))
    assert "it says nothing" not in shown(console.climb(CLIMB, "Matrix product"))


def test_the_first_lines_of_what_was_printed() -> None:
    grade = Grade("gemm", "mine.cu", "fail", "Wrong.", None, 0, 100, [], [], [], [], printed="[a]\n" * 30)
    text = shown(console.grade(grade, ["00_naive"], []))
    assert "It printed, in its first 12 lines: [a] [a]" in text
    assert text.count("[a]") == 12
    assert "printed" not in shown(console.grade(replace(grade, printed=""), ["00_naive"], []))


def test_a_grade_that_failed_quotes_the_line_once() -> None:
    finding = FindingResult("race", 2, "thread (0, 1, 0) reads what thread (1, 0, 0) writes", 126)
    again = Reproduce("gemm", "mine.cu", {"M": 33, "N": 31, "K": 7}, 1)
    cases = [
        CaseResult({"M": 1, "N": 1, "K": 1}, 1, "pass", 0.0, None),
        CaseResult({"M": 33, "N": 31, "K": 7}, 1, "fail", None, None, "exact", "wrong", again),
    ]
    grade = Grade("gemm", "mine.cu", "fail", "Line 2: race.", None, 0, 100, cases, [finding], [], [])
    text = shown(console.grade(grade, ["00_naive"], ["a", "  total += tile[x];", "b"]))
    assert "WRONG mine.cu 0 of 100 points 1 case right, then a wrong one" in text
    assert "ladder grade gemm mine.cu --set M=33 --set N=31 --set K=7 --seed 1" in text
    assert text.count("total += tile[x];") == 1
    assert "Ladder" not in text
    ended = replace(grade, verdict="timeout", cases=[cases[0], replace(cases[1], verdict="timeout")])
    assert "1 case right, then one that did not come to its end; none" in shown(console.grade(ended, [], []))


def test_a_wrong_grade_without_a_wrong_case_says_that_something_else_failed() -> None:
    cases = [CaseResult({"N": size}, 1, "pass", 0.0, None) for size in (1, 1, 33)]
    grade = Grade("gemm", "mine.cu", "fail", "Wrong at the main size.", None, 0, 9, cases, [], [], [])
    text = shown(console.step(grade, ["00_naive"], []))
    assert "3 cases right, of 2 sizes; it failed in what is looked at after them Wrong at the main" in text
    right = replace(grade, verdict="pass", reason=None)
    assert "3 of 3 cases right, of 2 sizes" in shown(console.step(right, ["00_naive"], []))


def test_a_hint_cuts_neither_what_is_wrong_nor_its_line() -> None:
    finding = FindingResult("race", 1, "thread (0, 1, 0) reads what thread (1, 0, 0) writes", 126)
    grade = Grade("gemm", "mine.cu", "fail", "Line 1: race.", None, 0, 100, [], [finding], [], [])
    line = "total += tile[threadIdx.x][threadIdx.y];"
    piped = Console(width=30, file=io.StringIO(), record=True)
    piped.print(hints.hint(1, grade, hints.Aim("right", "", "", "", ""), [line]), crop=False, soft_wrap=True)
    text = piped.export_text()
    assert f"{line}\n" in text
    assert text.count("race") == 1


def test_changes_are_shown_with_the_launch_that_they_are_for() -> None:
    head = '// /// launch\n// [[launch]]\n// grid = ["cdiv(N, 32)"]\n// block = [32]\n// ///\n'
    same = "".join(f"int n{number};\n" for number in range(9))
    old, new = f"{head}{same}a = 1;\n", f"{head}{same}a = 2;\n"
    aim = hints.Aim("01_tile", "An idea.", "00_naive", old, new)
    assert aim.launches == ['// grid = ["cdiv(N, 32)"]', "// block = [32]"]
    other = new.replace("[32]", "[64]")
    assert hints.Aim("01_tile", "An idea.", "00_naive", old, other).launches == []


def test_what_a_starter_asks_for_is_left_to_do_in_it_and_not_where_it_is_mended() -> None:
    topic = topics.load("decode")  # what mends it stands elsewhere in the starter
    step = topic.first_step
    assert step is not None
    grade = Grade("decode", "mine.cu", "fail", "Wrong.", None, 0, 9, [], [], [], [])
    found = [hints.aim(topic, grade, text) for text in (topic.starter_text, topic.mended(step))]
    assert [aim and bool(aim.pieces) for aim in found] == [True, False]


def test_what_mends_several_findings_is_said_once() -> None:
    guard, other = "Guard the access.", "Wait for the others."
    remedies = (guard, guard, other, other)
    findings = [FindingResult("out_of_bounds", 1, "reads", remedy=remedy) for remedy in remedies]
    grade = Grade("gemm", "mine.cu", "fail", f"Line 1: reads. {guard}", None, 0, 9, [], findings, [], [])
    text = shown(console.grade(grade, ["00_naive"], []))
    assert (text.count("reads"), text.count(guard), text.count(other)) == (4, 1, 1)


def test_a_hint_tells_what_comes_before_an_idea_and_no_idea() -> None:
    topic = topics.load("add_bias")
    first = Hint("00_naive", "Begin at row 8.", idea=False)
    grade = Grade("add_bias", "mine.cu", "pass", None, "00_naive", 10, 100, [], [], [], [first])
    aim = hints.aim(topic, grade, "")
    told = [shown(hints.hint(step, grade, aim, [])) for step in (1, 2, 3)]
    assert all("Begin at row 8." in text for text in told)
    assert not any("threadIdx" in text for text in told)


def test_where_time_alone_is_lacking_hints_are_about_time_and_no_idea_that_it_has() -> None:
    topic = topics.load("transpose")
    slow = Hint("04_swizzled_tile", "It takes 2.5 ms. Take several elements.", None, 2e-3, 1e-3, idea=False)
    grade = Grade("transpose", "mine.cu", "pass", None, "03_padded_tile", 70, 100, [], [], [], [slow])
    aim = hints.aim(topic, grade, topic.rung("04_swizzled_tile").source)
    limits, *told = [shown(hints.hint(step, grade, aim, [])) for step in (1, 2, 3)]
    assert "It takes 2.5 ms." in limits
    assert "several elements" not in limits
    assert "what takes the time" in told[0]
    assert "several elements" in told[0]
    assert "how 04_swizzled_tile does it" in told[1]
    assert 'block = ["TILE", "ROWS"]' in told[1]
    assert "\n-" not in told[1]


def test_where_the_next_rungs_idea_is_none_hints_are_of_the_rung_that_a_kernel_has_begun() -> None:
    topic, claim = topics.load("transpose"), "no bank conflicts"
    missing = ClaimResult(claim, False, 3.0, "03_padded_tile", 5, "x == 0", 0.0)
    first = Hint("03_padded_tile", "It needs: no bank conflicts.", claim, idea=False)
    grade = Grade("transpose", "mine.cu", "pass", None, "02_shared_tile", 50, 100, [], [], [missing], [first])

    def told(source: str) -> list[str]:
        aim = hints.aim(topic, grade, source)
        return [shown(hints.hint(step, grade, aim, [])) for step in (2, 3)]

    idea, changes = told("__shared__ float4 tile[64][16];")
    assert "Hint 2 of 3: the idea of 05_float4_tile" in idea
    assert "from 04_swizzled_tile to 05_float4_tile" in changes
    assert "[y ^ x]" in changes
    idea, _ = told("__shared__ float tile[32][33];")
    assert "It needs: no bank conflicts." in idea


def test_what_rung_0_claims_beside_being_right_is_not_said_to_be_needed_for_it() -> None:
    claim = ClaimResult("the bias is read once", False, 2.0, "00_naive", 5, "x <= y", 1.0)
    first = Hint("00_naive", "00_naive also claims: the bias is read once.", claim.text, idea=False)
    cost = LineCost(1, "32 sectors a request of `out`", "Let neighbouring threads access neighbours.", 0.5)
    grade = Grade("add_bias", "mine.cu", "pass", None, "00_naive", 10, 100, [], [], [claim], [first])
    grade = replace(grade, costliest=cost)
    aim = hints.aim(topics.load("add_bias"), grade, "")
    told = [" ".join(shown(hints.hint(step, grade, aim, ["out[i] = 0;"])).split()) for step in (1, 3)]
    assert "00_naive is reached. It also claims: ✗ the bias is read once" in told[0]
    assert "Costliest: line 1, 32 sectors a request of `out`. Let neighbouring threads" in told[1]
    little = replace(grade, costliest=replace(cost, share=0.05))
    assert "What is left: line 1, 32 sectors" in shown(hints.hint(3, little, aim, ["out[i] = 0;"]))


def test_hints_of_a_wrong_kernel_are_about_it_once_the_starters_step_is_done() -> None:
    topic, line = topics.load("vector_add"), "c[i] = a[i] + b[i];"
    finding = FindingResult("out_of_bounds", 2, "reads `a`[1]", remedy="Guard the access.")
    grade = Grade("vector_add", "mine.cu", "fail", "Line 2: reads `a`[1].", None, 0, 9, [], [finding], [], [])
    done = ["const int i = blockIdx.x * BLOCK + threadIdx.x;", line]

    def told(grade: Grade, step: int, source: list[str]) -> str:
        aim = hints.aim(topic, grade, "\n".join(source))
        return " ".join(shown(hints.hint(step, grade, aim, source)).split())

    assert "1 of 3: the concept" in told(grade, 1, ["const int i = threadIdx.x;", line])
    assert "1 of 3: what is wrong" in told(grade, 1, done)
    assert f"Look at line 2 of mine.cu: {line}" in told(grade, 2, done)
    assert "3 of 3: what to do Guard the access." in told(grade, 3, done)
    advised = replace(grade, reason=f"{grade.reason} Guard the access.")
    assert "Guard the access." not in told(advised, 1, done)
    alone = Reproduce("vector_add", "mine.cu", {"N": 1}, 3)
    failed = [CaseResult({"N": 1}, 3, "fail", None, None, reproduce=alone)]
    assert told(replace(grade, cases=failed), 3, done).endswith(
        "ladder grade vector_add mine.cu --set N=1 --seed 3"
    )
    refused = replace(grade, verdict="error", findings=[], reason="mine.cu:2: grid[0]: no integer")
    assert f"Look at line 2 of mine.cu: {line}" in told(refused, 2, done)
    assert "mends it" not in told(grade, 2, done)
    mended = replace(grade, mended="With `i < N` in place of `i <= N` in line 1 it comes out right.")
    assert told(mended, 3, done).endswith(f"mends it {mended.mended}")
    assert "for the change that mends it" in told(mended, 2, done)
    both = replace(mended, reason=f"{mended.reason} {mended.mended}")
    assert mended.reason in told(both, 1, done)
    assert "comes out right" not in told(both, 1, done) + told(both, 2, done)
    assert told(both, 3, done) == told(mended, 3, done)
    assert f"Look at line 1 of mine.cu: {done[0]}" in told(replace(mended, mended_line=1), 2, done)
    two = replace(mended, mended="With `i` and `j` exchanged in lines 1 and 2 it comes out right.")
    assert f"Look at line 1 and line 2 of mine.cu: {done[0]}" in told(two, 2, done)
    case = CaseResult({"N": 1}, 1, "fail", None, Mismatch("c", [0], 1, 2, 0, 1, 1))
    values = replace(grade, findings=[], cases=[case])
    assert f"What is wrong in c is stored there: Look at line 2 of mine.cu: {line}" in told(values, 2, done)


def test_a_grade_that_passed_shows_the_ladder() -> None:
    hint = Hint("01_tile", "Every float is read from global memory 32 times.")
    grade = Grade("gemm", "mine.cu", "pass", None, "00_naive", 5, 20, [], [], NAIVE.claims, [hint])
    text = shown(console.grade(grade, ["00_naive", "01_tile"], []))
    assert "Rung 00 of 01: 00_naive → 01_tile" in text
    assert "0/10" in text
    assert "Next: Every float" in text


def test_what_no_claim_says_is_shown_beside_the_next_one() -> None:
    hints = [Hint("01_tile", f"Needs {claim}.", claim) for claim in ("a", "b")]
    hints.append(Hint("01_tile", "The tile exchanges nothing."))
    grade = Grade("gemm", "mine.cu", "pass", None, "00_naive", 5, 20, [], [], NAIVE.claims, hints)
    text = shown(console.step(grade, ["00_naive", "01_tile"], []))
    assert "Next: Needs a. Also: The tile exchanges nothing." in text


def test_a_time_limit_says_what_it_is_made_of() -> None:
    """Behind a slow rung it is many times what the rung itself takes."""
    limits = [TimeLimit("01_tile", 5.75e-3, held=True)]
    grade = Grade(
        "gemm", "mine.cu", "pass", None, "01_tile", 20, 20, [], [], [], [], time_s=7e-4, time_source="modelled",
        time_limits=limits,
    )  # fmt: skip
    said = (
        "✓ time: ≈700 µs; 01_tile asks for ≈5.75 ms, a tenth more than the slower of it and the rung before"
    )
    assert said in shown(console.grade(grade, ["00_naive", "01_tile"], []))


@pytest.mark.parametrize(
    ("topic", "reached", "seconds", "said"),
    [
        (
            "stencil",
            "01_shared_tile",
            1.04e-3,
            "There 01_shared_tile takes 1.25 times as long as the model expects of yours, and is no faster than "
            "00_naive, 1.05 ms: it is for understanding, not for speed.",
        ),
        (
            "transpose",
            "02_shared_tile",
            1.27e-3,
            "There 02_shared_tile is no faster than 01_coalesced_writes, 1.11 ms: it is for understanding, not for",
        ),
        (
            "transpose",
            "01_coalesced_writes",
            1.6e-3,
            "There 01_coalesced_writes is 1.44 times as fast as the model expects of yours.",
        ),
        (
            "block_sum",
            "02_tree",
            123e-6,
            "There 02_tree is no faster than 01_one_adds, 121 µs",
        ),  # 121.07 and 121.47
        ("transpose", "03_padded_tile", 584e-6, None),
    ],
)
def test_a_measured_time_is_told_where_neither_the_model_nor_the_ladder_s_order_leads_to_expect_it(
    topic: str, reached: str, seconds: float, said: str | None
) -> None:
    cases = [CaseResult({"N": 1}, 1, "pass", 0.0, None)]
    grade = Grade(
        topic, "mine.cu", "pass", None, reached, 5, 20, cases, [], [], [], time_s=seconds, time_source="modelled",
        device=Device("emulator", "NVIDIA H200 (emulated)", "sm_90a"),
    )  # fmt: skip
    text = shown(console.grade(grade, topics.load(topic).ladder.ids, []))
    assert "Measured on a real NVIDIA H200" in text
    assert (said in text) if said else ("There " not in text)


def test_a_grade_shows_the_time_and_the_costliest_line_before_the_next_idea() -> None:
    cost = LineCost(2, "1.02M bank conflicts in `tile`: 32 wavefronts where 1 would do", "Pad its rows.", 0.5)
    hint = Hint("01_tile", "Every float is read from global memory 32 times.")
    cases = [CaseResult({"N": 1}, 1, "pass", 0.0, None)]
    grade = Grade(
        "gemm", "mine.cu", "pass", None, "00_naive", 5, 20, cases, [], [], [hint], time_s=1.2e-3,
        time_source="modelled", vs_naive=1.63, vs_bound=0.4, costliest=cost,
        device=Device("emulator", "NVIDIA H200 (emulated)", "sm_90a"),
    )  # fmt: skip
    text = shown(console.grade(grade, ["00_naive", "01_tile"], ["first", "  total += tile[x];"]))
    said = [
        "RIGHT mine.cu",
        "1 of 1 case right",
        "≈1.2 ms at the main size, modelled: 1.63 times as fast as rung 0, 40 % of the bound",
        "Measured on a real NVIDIA H200: rung 00_naive 276 ms, cuBLAS (cupy.matmul) ",
        "Rung 00 of 01",
    ]
    said += [
        "Costliest: line 2, 1.02M bank conflicts in `tile`",
        "Pad its rows.",
        "total += tile[x];",
        "Next: Every float",
    ]
    places = [text.find(part) for part in said]
    assert -1 not in places, text
    assert places == sorted(places)


def test_what_the_model_lacks_is_said_where_a_rung_takes_far_longer() -> None:
    modelled = replace(NAIVE, time_source="modelled", time_s=1e-3)
    slow = replace(CLIMB, rungs=[replace(NAIVE, time_s=4e-3)])
    text = shown(console.climb(replace(CLIMB, rungs=[modelled]), "Matrix product", slow))
    assert "00_naive takes 4 times as long as modelled" in text
    near = replace(CLIMB, rungs=[replace(NAIVE, time_s=1.4e-3)])
    assert "as modelled" not in shown(console.climb(replace(CLIMB, rungs=[modelled]), "Matrix product", near))


def test_a_grade_in_short_says_the_one_thing_to_do_now() -> None:
    claims = [ClaimResult("right at every size", True, None, "00_naive", 5), *NAIVE.claims]
    hints = [Hint("01_tile", "Read it once.", "once"), Hint("01_tile", "And once more.", "once more")]
    grade = Grade("gemm", "my file.cu", "pass", None, "00_naive", 5, 20, [], [], claims, hints)
    text = shown(console.step(grade, ["00_naive", "01_tile"], []))
    assert "Rung 00 of 01" in text
    assert text.count("Next: Read it once.") == 1
    assert text.endswith("All claims, and what each pays: ladder grade gemm 'my file.cu' --all")
    for left_out in ("right at every size", "And once more."):
        assert left_out not in text


def test_after_a_grade_at_the_top_comes_what_is_next() -> None:
    claims = [ClaimResult("right at every size", True, None, "right", 1)]
    grade = Grade("thread_index", "mine.cu", "pass", None, "solution", 2, 2, [], [], claims, [])
    text = shown(console.step(grade, ["right", "solution"], []))
    assert text.endswith("What is next: ladder next")
    assert "Rung" not in text  # what a task asks for is no ladder
    assert "--all" not in text


def test_words_of_the_field_are_explained_where_a_message_has_them() -> None:
    grade = Grade("gemm", "mine.cu", "fail", "A shuffle reads Lanes.", None, 0, 9, [], [], [], [])
    text = shown(console.step(grade, ["00_naive"], []))
    assert "lane: a thread's place in its warp, 0 to 31. More words: the glossary" in text
    assert "bank conflict" not in text
    plain = replace(grade, reason="Planes differ.")
    assert "glossary" not in shown(console.step(plain, ["00_naive"], []))


def test_a_word_is_explained_as_the_glossary_begins() -> None:
    glossary = " ".join((Path(__file__).parents[2] / "book/reference/glossary.md").read_text().split())
    for word, meaning in words.TOLD.items():
        assert f"{word} {meaning[0].upper()}{meaning[1:]}" in glossary


def test_a_wrong_grade_in_short_ends_with_the_command_that_helps() -> None:
    grade = Grade("gemm", "mine.cu", "fail", "Line 2: race.", None, 0, 100, [], [], NAIVE.claims, [])
    text = shown(console.step(grade, ["00_naive"], []))
    assert "Line 2: race." in text
    assert text.endswith("Stuck? ladder hint gemm mine.cu")
    assert "loads are coalesced" not in text


def test_what_is_wrong_beyond_an_int_is_told_beside_a_pass() -> None:
    grade = Grade(
        "gemm", "mine.cu", "pass", None, "00_naive", 0, 20, [], [], [], [], beyond="Not at M = 70000."
    )
    assert "Not at M = 70000." in shown(console.step(grade, ["00_naive"], []))


def test_points_in_the_table_add_up_to_the_total() -> None:
    held = [ClaimResult(name, name != "b", 1.0, name, 10, "x <= 1", 1.0) for name in "abc"]
    grade = Grade("gemm", "mine.cu", "pass", None, "a", 10, 30, [], [], held, [])
    text = shown(console.grade(grade, ["a", "b", "c"], []))
    assert "10 of 30 points" in text
    assert text.count("10/10") == 1
    assert text.count("0/10") == 3  # the end of "10/10" as well
    assert "rung by rung" in text


@pytest.mark.parametrize(
    ("shared_bytes", "reached", "sign"), [(0, "a", "–"), (4096, "a", "✓"), (0, "b", "✓")]
)
def test_a_claim_on_shared_memory_says_nothing_of_a_kernel_without(
    shared_bytes: int, reached: str, sign: str
) -> None:
    """Unless the rung is reached: there it earns its points."""
    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
    claims = [
        ClaimResult("rows are read", True, 1.0, "a", 10, "x <= 1", 1.0),
        ClaimResult("no conflicts", True, 0.0, "b", 10, f"{conflicts} == 0", 0.0),
    ]
    grade = Grade("gemm", "mine.cu", "pass", None, reached, 10, 30, [], [], claims, [])
    grade = replace(grade, counters={conflicts: 0}, facts={"shared_bytes": shared_bytes})
    text = shown(console.grade(grade, ["a", "b", "c"], []))
    assert f"{sign} no conflicts" in text
    assert (console.UNUSED_SHARED in text) == (sign == "–")


def test_what_passed_without_being_counted_shows_no_points() -> None:
    cases = [CaseResult({"M": 1}, 1, "pass", 0.0, None)]
    grade = Grade("gemm", "mine.cu", "pass", None, None, 0, 30, cases, [], [], [])
    text = shown(console.grade(grade, ["a"], []))
    assert text.startswith("RIGHT mine.cu 1 of 1 case right, of 1 size")


def test_a_profile_shows_whole_lines_where_there_is_room_and_how_they_are_indented() -> None:
    source = ["__global__ void k() {", f"    for ({'x' * 60}) {{", "        a[i] = tile[x][y];", "    }", "}"]
    lines = [
        LineProfile(2, source[1].strip(), {"smsp__inst_executed.sum": 400}),
        LineProfile(
            3,
            source[2].strip(),
            {
                "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 300,
                "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum": 1_230_000,
            },
        ),
    ]
    launch = LaunchProfile(
        "k", [1], [32], 0, 16, 0, 0, 1.0, "warps", 0, {"smsp__inst_executed.sum": 400}, "emulated", lines, []
    )  # fmt: skip
    result = Profile(
        "gemm", "mine.cu", Device("emulator", "H200", "sm_90a"), {"M": 8}, "pass", None, [launch],
        Provenance("0.1.0", "3.12", "2.4"),
    )  # fmt: skip
    terminal = Console(width=160, color_system=None, highlight=False)
    with terminal.capture() as capture:
        terminal.print(profiles.profile(result, source))
    loop, access = (line for line in capture.get().splitlines() if "for (" in line or "tile[" in line)
    assert source[1].strip() in loop
    assert access.index("a[i]") - loop.index("for") == 4
    assert access.split()[-2:] == ["1.23M", "75"]
    assert "tile[x][y];" in shown(profiles.profile(result, source))


def of_program(lines: list[LineProfile], **changes: Any) -> LaunchProfile:
    launch = LaunchProfile(
        "k", [4, 1, 1], [32, 1, 1], 0, 16, None, None, 0.5, "blocks", 0, {"smsp__inst_executed.sum": 400}, "emulated",
        lines, [], launched=SourceLine(9, "main.cu"),
    )  # fmt: skip
    return replace(launch, **changes)


def program(launches: list[LaunchProfile]) -> Profile:
    device, made = Device("emulator", "H200", "sm_90a"), Provenance("0.1.0", "3.12", "2.4")
    return Profile("", "prog.cu", device, {}, "pass", None, launches, made)


def test_a_line_is_shown_once_in_its_file_with_the_calls_that_led_there() -> None:
    executed = "smsp__inst_executed.sum"
    lines = [
        LineProfile(1, "k();", {executed: 100}),
        LineProfile(1, "load();", {executed: 75}, "a.cuh", [SourceLine(7, "b.cuh"), SourceLine(1)]),
        LineProfile(1, "load();", {executed: 225}, "a.cuh", [SourceLine(2)]),
    ]
    text = shown(profiles.program(program([of_program(lines, times=1200)]), ["    k();"]))
    assert "grid 4, block 32, launched in line 9 of main.cu, 1.2k times, counted together" in text
    assert (
        "1 k(); 100 – – 0 0 25 a.cuh: 1 load(); 300 – – 0 0 75 called in line 2: 75 % called in line 7 "
        in text
    )
    assert "called in line 7 of b.cuh, and that one in line 1: 25 %" in text


@pytest.mark.parametrize(
    ("code", "shown_line", "said"),
    [
        (
            CodeLine("15", "ld.global.f32 %f1, [%rd13];", 1, "a.cuh", {"smsp__inst_executed.sum": 300}),
            "15 ld.global.f32 %f1, [%rd13]; 300 – – 0 0 75",
            "Below a line its PTX",
        ),
        (
            CodeLine("0010", "LDG.E R9, [R6]", 1, "a.cuh", None),
            "0010 LDG.E R9, [R6]",
            "Below a line the SASS",
        ),
    ],
)
def test_code_stands_below_its_source_line(code: CodeLine, shown_line: str, said: str) -> None:
    executed = "smsp__inst_executed.sum"
    lines = [
        LineProfile(1, "k();", {executed: 100}),
        LineProfile(1, "load();", {executed: 300}, "a.cuh"),
    ]
    end = replace(code, at="99", text="EXIT", line=3, file=None)
    launch = of_program(lines, code=[end, code])
    text = shown(profiles.profile(program([launch]), ["k();", "", "}"]))
    assert "1 k(); 100 – – 0 0 25 3 } – – – 0 0 0 99 EXIT" in text
    assert f"a.cuh: 1 load(); 300 – – 0 0 75 {shown_line}" in text
    assert said in text
    assert "Below a line" not in shown(profiles.profile(program([of_program(lines)]), []))


def test_of_a_program_s_launches_the_costliest_are_shown() -> None:
    executed = "smsp__inst_executed.sum"
    launches = [of_program([], kernel=f"k{n:02}", counters={executed: n}) for n in range(1, 13)]
    text = shown(profiles.program(program(launches), []))
    assert [f"k{n:02} grid" in text for n in (1, 2, 3, 12)] == [False, False, True, True]
    assert "2 more kinds of launches, 3.8 % of the cost, are in --json alone." in text


@pytest.mark.parametrize(
    ("device", "folder"),
    [
        (Device("gpu", "NVIDIA H200", "sm_90a"), "h200"),
        (Device("gpu", "NVIDIA GeForce RTX 4090", "sm_89"), "rtx-4090"),
        (Device("gpu", "Tesla T4", "sm_75"), "t4"),
        (Device("emulator", "NVIDIA H200 (emulated)", "sm_90a"), "emulated-h200"),
    ],
)
def test_records_of_each_gpu_lie_in_a_folder_of_their_own(device: Device, folder: str) -> None:
    assert records.gpu_folder(device) == folder


def test_no_line_ends_between_a_number_and_its_unit() -> None:
    stream = io.StringIO()
    text = "Of all of it, it takes 25 % and then loads at 8 GB/s on the 11 × 11 grid, for 2 ms more"
    terminal(file=stream, width=24).print(Text(unbroken(text)))
    shown = stream.getvalue()
    assert " ".join(shown.split()) == text
    assert all(whole in shown for whole in ("25 %", "8 GB/s", "11 × 11", "2 ms"))
    assert unbroken("7 sectors, 3 stores") == "7 sectors, 3 stores"


def test_no_line_ends_in_blanks() -> None:
    stream = io.StringIO()
    table = Table(box=None, show_header=False, width=20)
    table.add_row("a ", "b")
    screen = terminal(file=stream, width=24)
    screen.print(
        Group(Padding(Text("one  two"), (0, 0, 0, 2)), "", Text.assemble(("x ", "bold"), " y "), table)
    )
    screen.print("asked: ", end="")
    *lines, last = stream.getvalue().split("\n")
    assert lines == ["  one  two", "", "x  y", *lines[3:]]
    assert not any(line.endswith(" ") for line in lines)
    assert last == "asked: "


@pytest.mark.parametrize(
    ("asked", "told"),
    [({}, False), ({"times_read": False}, False), ({"times_read": True}, True)],
)
def test_whose_times_they_are_is_told_to_a_script_that_reads_them_alone(
    asked: dict[str, bool], told: bool
) -> None:
    stream = io.StringIO()
    notices.emulation(Console(file=stream, width=120), [], None, Path("script.py"), **asked)
    said = "script.py: 0 launches emulated, 0 findings"
    more = "; the times between its events are the emulator's own, not a GPU's"
    assert stream.getvalue() == f"{said}{more if told else ''}\n"
