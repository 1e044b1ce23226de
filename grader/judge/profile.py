"""Counters, resources and findings of one submission: per launch, and per source line."""

from __future__ import annotations

from pathlib import Path

from grader.errors import WarpladderError
from grader.findings import kernels
from grader.judge.child.protocol import Launch, Record
from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseStore
from grader.judge.kernels import counting
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import Kernel, Planned, prepare
from grader.judge.kernels.counting import launch_occupancy, shared_bytes
from grader.judge.kernels.pool import DevicePool, Progress, greeting, silent
from grader.judge.provenance import provenance
from grader.judge.refused import Refused
from grader.judge.schedules import profile as schedule_profile
from grader.results import LaunchProfile, LineProfile, Profile
from grader.workbook.kernel_file import parse_kernel_file
from grader.workbook.topics import Problem, Topic


def profile(
    topic: Topic,
    file: Path,
    device: str = "auto",
    problem_overrides: Problem | None = None,
    progress: Progress | None = None,
    arch: str | None = None,
) -> Profile:
    """Run a submission once on the emulator, at the `count` sizes unless some are given, and say what it did.

    The result is compared as well. A schedule has a timeline instead, on either device: see
    `grader.judge.schedules.profile`. A GPU keeps no counters, so `device` is "auto" or "emulator". Raises
    WarpladderError for another device, a file that is not a submission, or a size that is unusable.
    """
    if topic.kernel is not None:
        return schedule_profile.profile(topic, file, device, problem_overrides, progress or silent, arch)
    if device == "pycuda":
        remedy = "leave --device out; on a GPU, use Nsight Compute"
        raise WarpladderError("a GPU keeps no counters: the emulator counts", remedy=remedy)
    problem = topic.problem("count", problem_overrides)
    rung = parse_kernel_file(file, topic.signature)
    report = progress or silent
    with DevicePool("emulator", arch, jobs=1) as session, session.emulator() as runner:
        report(rung.id, "compile")
        launches: list[LaunchProfile] = []
        printed = ""
        try:
            kernel = prepare(rung, session.arch)
            planned = kernel.plan(problem, greeting(runner).limits)
        except Refused as error:
            refusal: Refused | None = Refused("error", error.reason)
        else:
            report(rung.id, "count")
            case = cases.make(problem, "exact")
            outcome = CaseRunner(topic, CaseStore(topic), runner).outcome(kernel, case)
            refusal, printed = outcome.refusal, outcome.printed
            launches = _launches(kernel, planned, outcome.records, session.arch)
        report(rung.id, "done")
        return Profile(
            topic=topic.name,
            file=str(file),
            device=session.device,
            problem=problem,
            verdict="pass" if refusal is None else refusal.verdict,
            reason=None if refusal is None else refusal.reason,
            launches=launches,
            provenance=provenance(),
            printed=printed,
        )


def _launches(
    kernel: Kernel, planned: Planned, records: tuple[Record, ...], arch: str
) -> list[LaunchProfile]:
    """One profile a launch; those that were not made, because an earlier one failed, have no counters."""
    made = [*records, *[None] * (len(planned.launches) - len(records))]
    named = zip(planned.kernels, planned.launches, made, strict=True)
    return [_launch(kernel, name, launch, record, arch) for name, launch, record in named]


def _launch(kernel: Kernel, name: str, launch: Launch, record: Record | None, arch: str) -> LaunchProfile:
    used = kernel.resources(launch)
    resident = launch_occupancy(kernel, launch, arch)
    return LaunchProfile(
        kernel=name,
        grid=list(launch.grid),
        block=list(launch.block),
        shared_bytes=shared_bytes(kernel, launch),
        registers=used.registers,
        local_bytes=used.local_bytes,
        spill_bytes=used.spill_store_bytes + used.spill_load_bytes,
        occupancy=resident.fraction,
        occupancy_limited_by=resident.limited_by,
        dram_bytes=None if record is None else counting.dram_bytes([record]),
        counters=None if record is None else record.counters,
        counter_source=None if record is None else "emulated",
        lines=[] if record is None else _lines(kernel.rung.source, record),
        findings=[] if record is None else [kernels.result(item, name) for item in record.findings],
    )


def _lines(source: str, record: Record) -> list[LineProfile]:
    """The source lines that caused something; line 0 stands for code that the compiler gives no line."""
    text = source.splitlines()
    return [
        LineProfile(line, text[line - 1].strip() if 0 < line <= len(text) else "", counters)
        for line, counters in sorted(record.line_counters.items())
    ]
