"""Reasons: each kind of evidence alone."""

from __future__ import annotations

import numpy as np
import pytest
from records import at, record

from grader.emulator import metrics
from grader.emulator.devices import find
from grader.emulator.machine.records import Access, Action, Allocation, Counted, Finding, Scope, Space
from grader.findings.origins import Told
from grader.judge.child.protocol import Failure
from grader.judge.correctness import verdict
from grader.judge.correctness.comparison import compare
from grader.judge.correctness.findings import results
from grader.judge.correctness.guards import POISON, Damage, paint, paint_output
from grader.judge.correctness.verdict import MORE_THAN_ROUNDING, SUMS_ARE_EXACT
from grader.judge.refused import Lost, Refused

LIMITS = dict(find("sm_90a").attributes)
PROBLEM = {"M": 2, "N": 3}


def reason(refusal: Refused | None, expected: str = "fail") -> str:
    assert refusal is not None
    assert refusal.verdict == expected
    return refusal.reason


def test_records() -> None:
    assert verdict.of_records([record()], 10) is None
    assert "10,000" in reason(verdict.of_records([record(status="budget exhausted")], 10_000), "timeout")
    vain = reason(verdict.of_records([record(status="waiting in vain")], 10_000), "timeout")
    assert "wait, in loops" in vain
    assert "10,000" not in vain  # no block has executed as many
    together = record(status="launch budget exhausted", counters={metrics.WARP_INSTRUCTIONS: 45_000})
    assert "45,000" in reason(verdict.of_records([together], 10_000), "timeout")
    calls = record(status="calls exhausted", host_calls={"malloc": 12_000, "free": 11_000})
    assert "malloc 12,000 times and free 11,000 times" in reason(verdict.of_records([calls], 10), "timeout")
    ran = Counted(at(7), {metrics.WARP_INSTRUCTIONS: 9})
    repeating = reason(verdict.of_records([record(status="repeating", lines=(ran,))], 10), "timeout")
    assert "others have stored" in repeating
    assert "It spent its instructions in line 7." in repeating
    before = Counted(at(3), {metrics.WARP_INSTRUCTIONS: 1})
    loop = [Counted(at(line), {metrics.WARP_INSTRUCTIONS: 900}) for line in (5, 8)]
    for lines, said in (((before, *loop), True), (loop, False)):  # all lines that there are say nothing
        repeating = reason(verdict.of_records([record(status="repeating", lines=(*lines,))], 10), "timeout")
        assert ("It spent its instructions in lines 5 to 8." in repeating) == said
    assert "barrier" in reason(verdict.of_records([record(status="deadlock")], None), "timeout")
    assert "trap" in reason(verdict.of_records([record(status="trap")], None))


def test_findings_name_line_message_and_remedy() -> None:
    other = Access("write", at(6), (0, 0, 0), (32, 0, 0))
    race = race_in("shared", "block", other)
    text = reason(verdict.of_findings(results([record(findings=(race, race))])))
    assert text.startswith("Line 7: race: thread (0, 0, 0)")
    assert "1 more finding)" in text
    assert "__syncthreads()" in text
    assert verdict.of_findings([]) is None


def race_in(space: Space, scope: Scope, other: Access, action: Action = "read") -> Finding:
    return Finding(
        "race",
        at(7),
        3,
        (0, 0, 0),
        (0, 0, 0),
        action=action,
        space=space,
        address=0,
        scope=scope,
        other=other,
    )


BEYOND = {"action": "write", "address": 128, "size": 4, "allocation": Allocation(0, 128)}
HERE = Access("write", at(6), (0, 0, 0), (1, 0, 0))


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (Finding("out_of_bounds", at(7), 1, (0, 0, 0), (0, 0, 0), space="shared", **BEYOND), "`shared`"),
        (
            Finding("out_of_bounds", at(7), 1, (0, 0, 0), (0, 0, 0), space="global", **BEYOND),
            "threads that have no element",
        ),
        (race_in("shared", "warp", HERE), "enough only where no other warp comes to these"),
        (race_in("global", "grid", Access("write", block=(1, 0, 0))), "second [[launch]]"),
        (race_in("global", "block", HERE), "use atomicAdd"),
        (race_in("global", "block", HERE, "write"), "Let one thread store each element"),
        (race_in("shared", "block", HERE), "Put a __syncthreads() between"),
    ],
)
def test_remedies_suit_where_it_happened(found: Finding, says: str) -> None:
    assert says in reason(verdict.of_findings(results([record(findings=(found,))])))


def test_guards() -> None:
    assert verdict.of_guards("C", None, 4) is None
    assert "after `C`" in reason(verdict.of_guards("C", Damage("after", 0, 4), 4))
    assert "1 element beyond its end" in reason(verdict.of_guards("C", Damage("after", 3, 1), 4))
    assert "2 elements beyond its start" in reason(verdict.of_guards("C", Damage("before", 7, 1), 4))


def test_inputs() -> None:
    assert "`A`, first at [1, 2]. Inputs belong" in reason(verdict.of_input("A", (1, 2), ["C"]))
    turned = reason(verdict.of_input("A", (1, 2), ["C"], unwritten="C"))
    assert "`A`, first at [1, 2], and never wrote `C`: have the two changed places" in turned
    assert "scratch" not in turned


def test_a_wrong_element_is_shown_with_what_to_look_for() -> None:
    actual = np.float32([[1, 2, 3], [4, 9, 6]])
    comparison = compare("C", actual, np.float64([[1, 2, 3], [4, 5, 6]]), None)
    text = reason(verdict.of_comparison(comparison, SUMS_ARE_EXACT, PROBLEM))
    assert "`C`[1, 1] is 9, expected 5, where M=2, N=3" in text
    assert "only wrong one of 6" in text
    assert text.endswith(SUMS_ARE_EXACT)


def test_several_wrong_elements_are_shown_with_where_they_lie() -> None:
    actual = np.float32([[1, 0, 0], [4, 5, 0]])
    comparison = compare("C", actual, np.float64([[1, 2, 3], [4, 5, 6]]), np.full((2, 3), 0.5))
    text = reason(verdict.of_comparison(comparison, MORE_THAN_ROUNDING, PROBLEM))
    assert "3 of 6 elements are wrong, all within [0–1 × 1–2]" in text
    assert "within 0.5" in text


def test_nan_and_unwritten_elements_have_reasons_of_their_own() -> None:
    actual = np.ones((2, 3), np.float32)
    actual[1, 0] = np.nan
    comparison = compare("C", actual, np.ones((2, 3)), None)
    assert "NaN" in reason(verdict.of_comparison(comparison, SUMS_ARE_EXACT, PROBLEM))
    paint(actual[1, :2].view(np.uint8), POISON)
    comparison = compare("C", actual, np.ones((2, 3)), None)
    text = reason(verdict.of_comparison(comparison, SUMS_ARE_EXACT, PROBLEM))
    assert "2 of 6 elements of `C` were never written, the first at [1, 0]" in text


def test_a_nan_that_arithmetic_has_made_is_no_memory_that_nobody_wrote() -> None:
    root = Told("NaN is first made in line 3: sqrt(−1).", "Clamp it at 0.")
    of_memory = Refused("fail", f"`out`[0] is nan. {verdict.NOBODY_WROTE}")
    assert verdict.of_origin(of_memory, root).reason == f"`out`[0] is nan. {root.what} {root.remedy}"
    known = Refused("fail", "`out`[0] is nan. The row's maximum is missing.")
    assert verdict.of_origin(known, root).reason == f"{known.reason} {root.what}"


def test_an_output_without_any_writer_and_one_that_is_only_added_to() -> None:
    output = np.ones((2, 3), np.float32)
    paint_output(output.view(np.uint8).reshape(-1), output.dtype)
    text = reason(verdict.of_comparison(compare("C", output, np.ones((2, 3)), None), "", PROBLEM))
    assert "`C` was never written, where M=2, N=3" in text
    with np.errstate(invalid="ignore"):
        output[0, 1:] += 1
    text = reason(verdict.of_comparison(compare("C", output, np.ones((2, 3)), None), "", PROBLEM))
    assert "adds to `C` without setting it first, at 2 of its 6 elements, where M=2, N=3" in text
    assert (
        'add up in a variable and store it with = where a thread has the whole sum, or put zero = ["C"]'
        in text
    )
    atomic = "atomicAdd(&C[i], 1.0f);"
    added = verdict.of_comparison(compare("C", output, np.ones((2, 3)), None), "", PROBLEM, source=atomic)
    assert 'hold nothing at the start: put zero = ["C"]' in reason(added)


def test_a_single_number_is_not_called_the_only_wrong_one() -> None:
    comparison = compare("out", np.float32([3]), np.float64([4]), None)
    text = reason(verdict.of_comparison(comparison, SUMS_ARE_EXACT, {"N": 2}))
    assert text == f"`out`[0] is 3, expected 4, where N=2. {SUMS_ARE_EXACT}"


def test_what_the_emulator_does_not_know_is_named() -> None:
    text = reason(
        verdict.of_failure(Failure(0, "NotEmulated", "the emulator does not support wgmma")), "error"
    )
    assert "wgmma. " in text
    assert "GPU" in text


def test_memory_that_is_not_there_asks_for_smaller_sizes() -> None:
    failure = Failure(0, "MemoryError", "cuMemAlloc failed", status="OUT_OF_MEMORY")
    assert "--set" in reason(verdict.of_failure(failure), "error")


def test_a_fault_that_a_gpu_reports_is_the_kernels() -> None:
    message = "cuCtxSynchronize failed: an illegal memory access was encountered"
    failure = Failure(3, "LogicError", message, status="ILLEGAL_ADDRESS")
    text = reason(verdict.of_failure(failure))
    assert "Guard the access" in text
    assert "--device emulator" in text


def test_a_launch_that_a_gpu_ends_for_what_the_kernel_did_is_a_wrong_kernels() -> None:
    message = "cuCtxSynchronize failed: unspecified launch failure"
    text = reason(verdict.of_failure(Failure(3, "LaunchError", message, status="LAUNCH_FAILED")))
    assert "of a block of the cluster that has ended" in text


def test_clock_and_death() -> None:
    assert "8 s" in reason(verdict.of_clock(8.0), "timeout")
    assert "SIGSEGV" in reason(verdict.of_end("ended with signal SIGSEGV"), "error")


def test_what_is_lost_stays_lost_whatever_is_said() -> None:
    for lost in (verdict.of_death("ended with signal SIGKILL", too_large=False), verdict.of_delay(8.0)):
        assert isinstance(lost.saying("In other words."), Lost)
