"""One replay of a schedule on one case, and what it left in the host's arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.emulator.streams.commands import Recording
from grader.judge.child.protocol import Fetch, Operation, Put, Replay, Stage
from grader.judge.correctness.cases import Case, CaseData
from grader.judge.correctness.comparison import Comparison, compare
from grader.judge.correctness.guards import POISON, paint
from grader.judge.correctness.verdict import of_comparison, of_failure, of_input
from grader.judge.kernels.case_run import Outcome, as_bytes
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
    check_arrays(child, regions, data, compared, case)


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
            runner.payload(region)[:] = as_bytes(data.inputs[region.name])
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


def check_arrays(
    runner: Runner, regions: Sequence[Region], data: CaseData, compared: Sequence[Comparison], case: Case
) -> None:
    """Look at what a replay left in the memory file. Raises Refused for inputs changed and outputs that are wrong."""
    for region in regions:
        if region.name in data.inputs:
            given = data.inputs[region.name]
            changed = np.flatnonzero(runner.payload(region) != as_bytes(given))
            index = None if not len(changed) else (int(changed[0]) // given.itemsize,)
            if refusal := of_input(region.name, index, list(data.expected), "schedule"):
                raise refusal
    for comparison in compared:
        if refusal := of_comparison(comparison, LATE_OR_MISSING, case.problem):
            raise refusal
