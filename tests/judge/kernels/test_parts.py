"""Cases that launch other kernels are tried in other emulators, and the verdict is the one of all of them in turn."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from grader.judge.climb import climb
from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case, CaseStore
from grader.judge.kernels import parts
from grader.judge.kernels.case_run import Outcome
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.refused import Refused
from grader.judge.runners.runner import Runner
from grader.results import RungResult
from grader.workbook import topics
from grader.workbook.ladder import Rung
from grader.workbook.source_file import SourceFile

TOPIC = topics.load("add_bias")
FOURS = TOPIC.rung("03_float4")


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return prepare(TOPIC.kernel_files[-1], "sm_90a")


@pytest.fixture(scope="module")
def runner() -> CaseRunner:
    return CaseRunner(TOPIC, CaseStore(TOPIC), Runner("emulator", threads=1))


def tried(widths: list[int]) -> list[Case]:
    return [cases.make({"M": 8, "N": width}, "exact") for width in widths]


def numbers(kernel: Kernel, runner: CaseRunner, widths: list[int], later: int) -> list[list[int]]:
    limits = runner.child.hello().limits
    return parts.parts(kernel, tried(widths), [{"M": 8, "N": later}], limits)


def test_cases_of_a_kernel_stay_together(kernel: Kernel, runner: CaseRunner) -> None:
    assert numbers(kernel, runner, [3, 4, 5, 8], later=4) == [[1, 3], [0, 2]]
    assert numbers(kernel, runner, [3, 4, 5, 8], later=5) == [[0, 2], [1, 3]]


def test_a_file_whose_launches_leave_something_behind_is_not_divided(
    kernel: Kernel, runner: CaseRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(kernel.__dict__, "keeps_state", True)
    assert numbers(kernel, runner, [3, 4, 5, 8], later=4) == [[0, 1, 2, 3]]


class Noted(CaseRunner):
    """Refuses widths from 6 on; says which were run."""

    def outcome(self, kernel: Kernel, case: Case) -> Outcome:
        width = case.problem["N"]
        return Outcome(Refused("fail", f"{width}") if width > 5 else None)


def run(kernel: Kernel, runner: CaseRunner, widths: list[int], beside: parts.Beside) -> list[str]:
    """What is refused, in the cases' order."""
    noted = Noted(runner.topic, runner.store, runner.child)
    given = tried(widths)
    found = parts.run_all(kernel, noted, given, [{"M": 8, "N": 4}], beside)
    known = [found.known[case] for case in given if case in found.known]
    return [outcome.refusal.reason for outcome in known if outcome.refusal is not None]


def test_what_is_known_of_a_kernel_is_not_taken_for_a_changed_one(kernel: Kernel, runner: CaseRunner) -> None:
    (case,) = tried([4])
    found = parts.Tried(runner.topic, runner.store, runner.child, kernel=kernel)
    found.known[case] = Outcome(Refused("fail", "known"))
    changed = dataclasses.replace(kernel)
    assert found.outcome(kernel, case).refusal is not None
    assert found.outcome(changed, case).refusal is None


def never(work: Callable[[CaseRunner], None]) -> Future[None]:
    return Future()


@pytest.mark.parametrize("widths", [[4, 3, 8, 7, 5], [3, 7, 4, 8], [3, 4, 5]])
def test_the_first_case_that_is_refused_is_found_by_any_number(
    kernel: Kernel, runner: CaseRunner, widths: list[int]
) -> None:
    wrong = next((str(width) for width in widths if width > 5), None)
    noted = Noted(runner.topic, runner.store, runner.child)
    with ThreadPoolExecutor(2) as pool:
        shared = run(kernel, runner, widths, lambda work: pool.submit(work, noted))
    for found in (shared, run(kernel, runner, widths, never)):
        assert found[:1] == ([] if wrong is None else [wrong])


def with_source(rung: Rung[SourceFile], source: str) -> Rung[SourceFile]:
    return dataclasses.replace(rung, file=dataclasses.replace(rung.file, source=source))


def test_a_climb_says_the_same_however_many_emulators_it_has() -> None:
    wrong = with_source(FOURS, FOURS.source.replace("in[i] + shift", "in[i] - shift"))
    ladder = dataclasses.replace(TOPIC.ladder, rungs=(TOPIC.rungs[0], wrong))
    few = dataclasses.replace(TOPIC, ladder=ladder, judge_cases=TOPIC.judge_cases[14:])

    def climbed(jobs: int) -> list[RungResult]:
        return climb(few, "emulator", {"M": 64, "N": 64}, jobs=jobs).rungs

    alone = climbed(1)
    assert [item.verdict for item in alone] == ["pass", "fail"]
    assert alone[1].reason is not None
    assert climbed(5) == alone
