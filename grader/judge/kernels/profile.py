"""Counters, resources and findings of one submission: per launch, and per source line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grader.emulator.machine.records import by_line
from grader.emulator.nvrtc import disassembly
from grader.emulator.places import GIVEN, Listed
from grader.emulator.ptx import listing
from grader.errors import WarpladderError
from grader.findings import kernels
from grader.judge.child.protocol import Launch, Record
from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseStore
from grader.judge.kernels import counting, submission
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import Kernel, Planned
from grader.judge.kernels.counting import launch_occupancy, shared_bytes
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.provenance import provenance
from grader.judge.runners.pool import DevicePool, Progress, greeting
from grader.results import Code, CodeLine, LaunchProfile, Profile
from grader.workbook.reference import Problem
from grader.workbook.topic import KernelTopic


def profile(
    topic: KernelTopic,
    file: Path,
    device: str,
    overrides: Problem | None,
    progress: Progress,
    arch: str | None,
    code: Code | None,
) -> Profile:
    """Run a kernel file once on the emulator, at the `count` sizes unless some are given; the result is compared too.

    Raises WarpladderError for a device that does not count, and for SASS without nvdisasm.
    """
    if code == "sass":
        _check_nvdisasm()
    if device == "pycuda":
        remedy = "leave --device out; on a GPU, use Nsight Compute"
        raise WarpladderError("a GPU keeps no counters: the emulator counts", remedy=remedy)
    problem = topic.problem("count", overrides)
    current = KernelSubmission(name=str(file), file=topic.parse(file))
    launches: list[LaunchProfile] = []
    with DevicePool("emulator", arch, jobs=1) as pool, pool.emulator() as runner:
        with current.stages():
            progress(file.stem, "compile")
            submission.compile_it(current, pool.arch)
            planned = current.compiled.plan(problem, greeting(runner).limits)
            progress(file.stem, "count")
            case = cases.make(problem, "exact")
            outcome = CaseRunner(topic, CaseStore(topic), runner).outcome(current.compiled, case)
            current.printed = outcome.printed
            launches = _launches(current.compiled, planned, outcome.records, pool.arch)
            if code == "ptx":
                progress(file.stem, "count")
                by_instruction = CaseRunner(topic, CaseStore(topic), runner).outcome(
                    _numbered(current.compiled), case
                )
                launches = _with_ptx(current.compiled, planned, launches, by_instruction.records)
            if code == "sass":
                launches = _with_sass(current.compiled, planned, launches)
            if outcome.refusal is not None:
                raise outcome.refusal
        progress(file.stem, "done")
        return Profile(
            topic=topic.name,
            file=current.name,
            device=pool.device,
            problem=problem,
            verdict="pass" if current.refusal is None else current.refusal.verdict,
            reason=None if current.refusal is None else current.refusal.reason,
            launches=launches,
            provenance=provenance(),
            printed=current.printed,
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
    sources = {GIVEN: kernel.file.source.splitlines()}
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
        lines=[] if record is None else counting.lines(record.lines, sources),
        findings=[] if record is None else [kernels.result(item, name) for item in record.findings],
    )


# ---- listings ----------------------------------------------------------------------------------------------


def _numbered(kernel: Kernel) -> Kernel:
    """The same kernel, of which the emulator counts each line of PTX by itself."""
    return replace(kernel, build=replace(kernel.build, ptx=listing.numbered(kernel.build.ptx)))


def _with_ptx(
    kernel: Kernel, planned: Planned, launches: list[LaunchProfile], records: tuple[Record, ...]
) -> list[LaunchProfile]:
    """The launches that were made with their PTX, each line of it with what it did in `records`."""
    found = []
    for profiled, launch, record in zip(launches, planned.launches, records, strict=False):
        counted = by_line(record.lines)
        code = listing.listed(kernel.build.ptx, launch.symbol)
        lines = [_code_line(item, counted.get(int(item.at), {})) for item in code]
        found.append(replace(profiled, code=lines))
    return found + launches[len(found) :]


def _with_sass(kernel: Kernel, planned: Planned, launches: list[LaunchProfile]) -> list[LaunchProfile]:
    built = kernel.build
    code = {
        symbol: [_code_line(item, None) for item in disassembly.listed(built.cubin, symbol, built.name)]
        for symbol in {launch.symbol for launch in planned.launches}
    }
    pairs = zip(launches, planned.launches, strict=True)
    return [replace(profiled, code=code[launch.symbol]) for profiled, launch in pairs]


def _code_line(item: Listed, counters: dict[str, int] | None) -> CodeLine:
    return CodeLine(item.at, item.text, item.place.line, item.place.file or None, counters)


def _check_nvdisasm() -> None:
    try:
        disassembly.nvdisasm()
    except disassembly.NvdisasmNotFound as error:
        raise WarpladderError(
            f"{error}, which makes SASS readable", remedy="pip install nvidia-cuda-nvdisasm, or --ptx"
        ) from None
