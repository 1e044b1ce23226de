"""Cases that are run several at a time."""

import time
from collections import Counter
from dataclasses import dataclass, field
from threading import Event
from typing import cast

import pytest

from grader.judge.correctness.cases import Case, CaseStore, make
from grader.judge.kernels import case_runner
from grader.judge.kernels.case_run import Outcome
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import Kernel
from grader.judge.refused import Refused
from grader.judge.runners.runner import Runner
from grader.workbook import topics

KERNEL = cast(Kernel, None)


@dataclass(frozen=True)
class Slow(CaseRunner):
    """Takes longer for the even widths, and refuses those from 8 on; notes by whom each is run."""

    running: Counter[int] = field(default_factory=Counter)
    most: list[int] = field(default_factory=list)
    run: list[int] = field(default_factory=list)

    def outcome(self, kernel: Kernel, case: Case, *, thorough: bool = True) -> Outcome:
        width = int(case.problem["N"])
        self.running[id(self.child)] += 1
        self.most.append(max(self.running.values()))
        self.run.append(width)
        time.sleep(0.03 if width % 2 == 0 else 0.01)
        self.running[id(self.child)] -= 1
        return Outcome(Refused("fail", f"{width}") if width >= 8 else None)


@pytest.mark.parametrize("children", [1, 3])
def test_outcomes_come_in_order_up_to_the_first_refusal(children: int) -> None:
    topic = topics.load("transpose")
    child, *others = (cast(Runner, object()) for _ in range(children))
    slow = Slow(topic, CaseStore(topic), child, others=others)
    widths = [3, 4, 5, 6, 7, 8, 1, 9, *range(10, 30)]
    cases = [make({"M": 8, "N": width}, "exact") for width in widths]
    told = []
    for case, outcome in slow.outcomes(KERNEL, cases):
        told.append((case.problem["N"], outcome.refusal is None))
        if outcome.refusal is not None:
            assert not +slow.running
    assert told == [(3, True), (4, True), (5, True), (6, True), (7, True), (8, False)]
    assert set(slow.most) == {1}, "a child runs one case at a time"
    assert slow.run[0] == 3
    assert len(slow.run) < len(widths)


class Child:
    """Stands for a child that works until it is ended."""

    def __init__(self) -> None:
        self.ended, self.begun_anew = Event(), False

    def interrupt(self) -> None:
        self.ended.set()

    def restart(self) -> None:
        self.begun_anew = True


class Endless(CaseRunner):
    """Refuses an odd width, and is at work at an even one until its child is ended."""

    def outcome(self, kernel: Kernel, case: Case, *, thorough: bool = True) -> Outcome:
        width = int(case.problem["N"])
        if width % 2 == 0:
            assert cast(Child, self.child).ended.wait(timeout=20)
        return Outcome(Refused("fail", f"{width}") if width > 1 else None)


def test_a_case_under_way_is_ended_once_another_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_runner, "AT_THE_END", 0.0)
    topic = topics.load("transpose")
    children = Child(), Child()
    one, other = (cast(Runner, child) for child in children)
    endless = Endless(topic, CaseStore(topic), one, others=[other])
    cases = [make({"M": 8, "N": width}, "exact") for width in (1, 3, 4, 5)]
    told = [case.problem["N"] for case, _ in endless.outcomes(KERNEL, cases)]
    assert told == [1, 3]
    assert sorted(child.begun_anew for child in children) == [False, True], (
        "whose child was ended begins anew"
    )
