"""One replay of a schedule on one case, and what it left in the host's arrays."""

from __future__ import annotations

from collections.abc import Sequence

from grader.emulator.streams.commands import Recording
from grader.judge.child.protocol import Fetch, Operation, Put, Replay, Stage
from grader.judge.correctness import pieces
from grader.judge.correctness.cases import Case, CaseData
from grader.judge.correctness.comparison import Comparison, compare
from grader.judge.correctness.guards import POISON, paint
from grader.judge.correctness.verdict import of_comparison, of_failure, of_input
from grader.judge.kernels.case_run import Outcome, as_bytes, first_change
from grader.judge.kernels.case_runner import GPU_SECONDS, CaseRunner, emulator_seconds, instruction_budget
from grader.judge.kernels.compiled import Kernel
from grader.judge.refused import Refused
from grader.judge.runners.runner import Region, Runner
from grader.workbook.topic import Topic

LATE_OR_MISSING = (
    "A schedule computes nothing itself: look at what each copy and each launch takes, and how many there are; above "
    "all at the last one."
)


def replay(runner: CaseRunner, kernel: Kernel, recording: Recording, case: Case) -> Outcome:
    """Replay a recording on one case and look at what came out."""
    outcome = Outcome()
    try:
        _replay(runner, kernel, recording, case, outcome)
    except Refused as refused:
        outcome.refusal = refused.kept()
    return outcome


def _replay(runner: CaseRunner, kernel: Kernel, recording: Recording, case: Case, outcome: Outcome) -> None:
    child, data = runner.child, runner.store.get(case)
    on_gpu = child.hello().kind == "gpu"
    seconds = GPU_SECONDS if on_gpu else emulator_seconds(runner.topic, case.problem)
    child.load(kernel, seconds)
    regions = host_regions(child, runner.topic, data)
    fill(child, regions, data)
    operations: list[Operation] = [Stage("", recording, kernel.module)]
    operations += [Put("", region.name, region.offset) for region in regions]
    operations += [Replay("", instruction_budget(runner.topic, case.problem))]
    operations += [Fetch("", region.name, region.offset) for region in regions]
    reply = child.ask(operations, seconds)
    if reply.failure is not None:
        child.restart()
        raise of_failure(reply.failure)
    compared = compare_outputs(child, runner.topic, regions, data)
    outcome.comparison = _worst(compared)
    check_inputs(child, regions, data)
    check_outputs(compared, case)


def host_regions(runner: Runner, topic: Topic, data: CaseData) -> list[Region]:
    """Places in the memory file for the job's host arrays, without guards."""
    arrays = {name: array.nbytes for name, array in data.inputs.items()}
    for item in topic.signature.outputs:
        arrays[item.name] = data.expected[item.name].size * item.dtype.itemsize
    return [Region(r.name, r.offset, r.nbytes, 0) for r in runner.regions(arrays)]


def fill(runner: Runner, regions: Sequence[Region], data: CaseData) -> None:
    """Inputs, and poison where outputs will be."""
    for region in regions:
        if region.name in data.inputs:
            pieces.copy(runner.payload(region), as_bytes(data.inputs[region.name]))
        else:
            paint(runner.payload(region), POISON)


def compare_outputs(
    runner: Runner, topic: Topic, regions: Sequence[Region], data: CaseData
) -> list[Comparison]:
    """Each output in the memory file against what it should be."""
    found = []
    for region in regions:
        if region.name not in data.inputs:
            dtype, expected = topic.signature[region.name].dtype, data.expected[region.name]
            actual = runner.payload(region).view(dtype).reshape(expected.shape)
            found.append(compare(region.name, actual, expected, data.allowed[region.name]))
    return found


def _worst(compared: Sequence[Comparison]) -> Comparison | None:
    """The first output that is wrong, or else the one with the largest error."""
    wrong = [comparison for comparison in compared if not comparison.right]
    return wrong[0] if wrong else max(compared, key=lambda item: item.error or 0.0, default=None)


def check_inputs(runner: Runner, regions: Sequence[Region], data: CaseData) -> None:
    """Raises Refused for inputs that a replay has changed in the memory file."""
    for region in regions:
        if region.name in data.inputs:
            changed = first_change(runner, region, data.inputs[region.name])
            if changed is not None:
                raise of_input(region.name, changed, list(data.expected), "schedule")


def check_outputs(compared: Sequence[Comparison], case: Case) -> None:
    """Raises Refused for outputs that are wrong."""
    for comparison in compared:
        if refusal := of_comparison(comparison, LATE_OR_MISSING, case.problem):
            raise refusal
