"""`ladder run`: a whole CUDA C++ program, on this machine's GPU or on the emulator."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Literal

from grader import gpu
from grader.analysis.devices import capability
from grader.analysis.occupancy import occupancy
from grader.emulator import devices
from grader.emulator.cudart import process, toolchain
from grader.emulator.cudart.events import Outcome
from grader.emulator.machine.records import Finding, LaunchRecord
from grader.emulator.nvrtc.compilation import PINNED
from grader.emulator.places import Place
from grader.errors import WarpladderError
from grader.findings import compiling, kernels
from grader.judge.kernels import counting
from grader.judge.provenance import provenance
from grader.judge.runners.pool import check_arch
from grader.results import Device, LaunchProfile, Profile, SourceLine
from grader.sandbox.scratch import Scratch
from grader.workbook import topics


def run(
    source: Path,
    arguments: Sequence[str] = (),
    *,
    device: Literal["auto", "gpu", "emulator"] = "auto",
    arch: str = devices.DEFAULT_ARCH,
    options: Sequence[str] = (),
) -> Outcome:
    """Compile `source` with nvcc, with further `options` of nvcc's, and run it with its `arguments`.

    Its standard streams are this process's. `arch` is the GPU to emulate. On a GPU the outcome has no launches and no
    findings. Raises WarpladderError for what cannot be compiled, linked or found.
    """
    if not source.is_file():
        raise WarpladderError("no such program", file=source)
    problem = None if device == "emulator" else _gpu_problem()
    if device == "gpu" and problem is not None:
        raise problem
    try:
        with compiling.in_words(source):
            if device != "emulator" and problem is None:
                return _run_native(source, arguments, options)
            check_arch(arch)
            return process.run(source, arguments, arch, options)
    except compiling.NotCompiled as error:
        raise (error.lacks_main and _of_kernel(source)) or error from None


def _of_kernel(source: Path) -> WarpladderError | None:
    """What a file without main() is told that has a kernel to be graded; None of another."""
    text = source.read_text(encoding="utf-8", errors="replace")
    topic = topics.of_kernel(text) or ("TOPIC" if "/// launch" in text else "")
    if not topic:
        return None
    return WarpladderError(
        "this file has a kernel and no main(): by itself it is no program",
        file=source,
        remedy=f"ladder grade {topic} {shlex.quote(str(source))}",
    )


def profile(outcome: Outcome, source: Path, arch: str = devices.DEFAULT_ARCH) -> Profile:
    """What an emulated program's launches did; those with one kernel, shape and place in the program are one."""
    alike: dict[tuple[object, ...], tuple[Place | None, list[LaunchRecord]]] = {}
    for record, place in outcome.launches:
        key = place, record.kernel, record.grid, record.block, record.shared_bytes, record.registers
        alike.setdefault(key, (place, []))[1].append(record)
    files = {at.file for record, _ in outcome.launches for each in record.lines for at in each.place.stack()}
    sources = {file: _lines(source.parent / file if file else source) for file in files}
    return Profile(
        topic="",
        file=source.name,
        device=Device("emulator", f"{devices.find(arch).name} (emulated)", arch),
        problem={},
        verdict="error" if outcome.refused else "fail" if outcome.exit_code else "pass",
        reason=outcome.refused.what if outcome.refused else None,
        launches=[_launches(records, at, source, sources, arch) for at, records in alike.values()],
        provenance=provenance(),
    )


def _launches(
    records: Sequence[LaunchRecord],
    place: Place | None,
    source: Path,
    sources: Mapping[str, Sequence[str]],
    arch: str,
) -> LaunchProfile:
    first = records[0]
    resident = occupancy(capability(arch), prod(first.block), first.registers, first.shared_bytes)
    return LaunchProfile(
        kernel=first.kernel,
        grid=list(first.grid),
        block=list(first.block),
        shared_bytes=first.shared_bytes,
        registers=first.registers,
        local_bytes=None,
        spill_bytes=None,
        occupancy=resident.fraction,
        occupancy_limited_by=resident.limited_by,
        dram_bytes=counting.dram_bytes(records),
        counters=counting.summed(records),
        counter_source="emulated",
        lines=counting.lines((each for record in records for each in record.lines), sources),
        findings=[
            kernels.result(replace(same[0], count=sum(each.count for each in same)), first.kernel)
            for same in _same(records)
        ],
        times=len(records),
        launched=SourceLine(place.line, None if place.file == source.name else place.file) if place else None,
    )


def _same(records: Sequence[LaunchRecord]) -> Iterable[list[Finding]]:
    """Findings of launches that are alike, once a place and kind."""
    found: dict[tuple[Place, str], list[Finding]] = {}
    for finding in (each for record in records for each in record.findings):
        found.setdefault((finding.place, finding.kind), []).append(finding)
    return found.values()


def _lines(file: Path) -> Sequence[str]:
    return file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else ()


def sources_and_arguments(given: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What stands behind a program's name: its other sources, then its own arguments, which begin at what is no file
    with a source's suffix, or behind `--`."""
    is_source = [Path(each).suffix in toolchain.SOURCES and Path(each).is_file() for each in given]
    count = is_source.index(False) if False in is_source else len(given)
    return given[:count], given[count + (given[count : count + 1] == ["--"]) :]


def _gpu_problem() -> WarpladderError | None:
    """Why this machine's GPU cannot run what nvcc makes; None where it can."""
    found = gpu.find()
    if found is None:
        return WarpladderError("no NVIDIA driver answers", remedy=gpu.NEW_DRIVER)
    if found.cuda[0] < PINNED:
        return WarpladderError(
            f"the driver knows no CUDA {PINNED}, which nvcc compiles for", remedy=gpu.NEW_DRIVER
        )
    return None


def _run_native(source: Path, arguments: Sequence[str], options: Sequence[str]) -> Outcome:
    with Scratch() as folder:
        program = folder / source.stem
        toolchain.compile_native(source, program, options)
        status = subprocess.run([str(program), *arguments], check=False).returncode
        return Outcome(status=128 - status if status < 0 else status, emulated=False)
