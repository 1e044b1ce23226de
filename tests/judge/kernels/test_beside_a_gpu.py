"""An emulator counts while a GPU tries the cases. Here the GPU is another emulator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest

from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseStore
from grader.judge.kernels import measured, submission, thresholds
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.kernels.kind import Kernels
from grader.judge.kernels.large import main_size
from grader.judge.kernels.track import Values
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool, silent
from grader.judge.runners.runner import Runner
from grader.workbook import topics

TOPIC = topics.load("transpose")
WRONG = Path(__file__).parents[2] / "submissions" / "transpose" / "missing_syncthreads.cu"
RIGHT = TOPIC.rungs[1].path


@pytest.fixture(scope="module")
def pool() -> Iterator[DevicePool]:
    with DevicePool("emulator", jobs=1) as found:
        yield found


def examined(pool: DevicePool, file: Path) -> KernelSubmission:
    tried = cases.public(TOPIC)[:6]
    return Kernels(TOPIC).examine(pool, TOPIC.parse(file), file.name, tried, True, silent, CaseStore(TOPIC))


@pytest.fixture
def beside(pool: DevicePool, monkeypatch: pytest.MonkeyPatch) -> Iterator[DevicePool]:
    gpu = Runner("emulator", pool.arch)
    monkeypatch.setattr(pool, "gpu", gpu)
    # Nothing is timed here: what takes a GPU's memory at the main size is not made.
    monkeypatch.setattr(measured, "ahead", lambda *_: nullcontext())
    monkeypatch.setattr(Values, "of", lambda *_: None)
    yield pool
    gpu.close()


def test_it_counts_what_it_counts_alone(beside: DevicePool) -> None:
    found = examined(beside, RIGHT)
    beside.gpu = None
    alone = examined(beside, RIGHT)
    assert found.refusal is None
    assert found.claims == alone.claims
    assert [claim.held for claim in found.claims].count(True) > 1
    assert found.counters == alone.counters
    assert found.cases == alone.cases


def test_cases_are_shared_by_the_children_on_a_gpu_that_can_be_used(
    beside: DevicePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    second, unusable = Runner("emulator", beside.arch), Runner("emulator", "sm_1")
    monkeypatch.setattr(beside, "_also_on_gpu", [second, unusable])
    with beside.judges() as children:
        assert children == [beside.gpu, second]
    for child in (second, unusable):
        child.close()


def test_the_main_size_is_looked_at_while_cases_are_tried(
    beside: DevicePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Event()

    def look(*_: object) -> main_size.Looked:
        begun.set()
        return main_size.Looked()

    def tries(*_: object) -> None:
        assert begun.wait(timeout=20)

    monkeypatch.setattr(main_size, "look", look)
    monkeypatch.setattr(submission, "try_cases", tries)
    assert examined(beside, RIGHT).refusal is None


@pytest.mark.parametrize("right", [True, False])
def test_what_is_wrong_is_not_waited_for_on_the_gpu(
    beside: DevicePool, monkeypatch: pytest.MonkeyPatch, right: bool
) -> None:
    monkeypatch.undo()  # of what places nothing on a GPU
    interrupted = Event()
    monkeypatch.setattr(beside, "gpu", SimpleNamespace(interrupt=interrupted.set))
    monkeypatch.setattr(measured, "_track", lambda *_: None)
    monkeypatch.setattr(measured, "_warm", lambda *_: right or interrupted.wait(timeout=20))
    current = KernelSubmission(name="some.cu", file=TOPIC.parse(RIGHT))
    with measured.ahead(beside, current, lambda: pytest.fail("nothing is made")):
        current.refusal = None if right else Refused("fail", "")
    assert current.warm is not None
    assert current.warm.result()
    assert interrupted.is_set() != right


def test_a_case_that_fails_on_the_gpu_is_explained_and_counts_for_nothing(beside: DevicePool) -> None:
    found = examined(beside, WRONG)
    assert found.refusal is not None
    assert ": race: " in found.refusal.reason
    assert [case.verdict for case in found.cases].count("fail") == 1
    assert (found.claims, found.counters) == ([], None)


def test_a_fault_that_a_gpu_does_not_see_refuses(beside: DevicePool, monkeypatch: pytest.MonkeyPatch) -> None:
    def passes(current: KernelSubmission, runner: CaseRunner, tried: object) -> None:
        current.cases = []

    monkeypatch.setattr(submission, "try_cases", passes)
    found = examined(beside, WRONG)
    assert isinstance(found.refusal, Refused)
    assert ": race: " in found.refusal.reason
    assert found.findings[0].kind == "race"


def test_what_no_emulator_could_count_is_counted_at_no_other_size(
    beside: DevicePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "count", lambda *_: None)
    monkeypatch.setattr(thresholds, "beside", lambda *_: {"M": 5, "N": 5})
    monkeypatch.setattr(submission, "claim_beside", lambda *_: pytest.fail("it was not counted"))
    found = examined(beside, RIGHT)
    assert (found.refusal, found.proven) == (None, False)
