"""What the launches of a kernel file take of a multiprocessor, compiled for any architecture; nothing is run."""

from __future__ import annotations

from dataclasses import dataclass

from grader.analysis.devices import DeviceSpec
from grader.errors import WarpladderError
from grader.judge.forecast import architecture
from grader.judge.kernels.compiled import prepare
from grader.judge.kernels.counting import product
from grader.judge.refused import Refused
from grader.workbook.kernel_file import KernelFile
from grader.workbook.launches.plan import plan
from grader.workbook.reference import Problem


@dataclass(frozen=True)
class Footprint:
    """One launch."""

    kernel: str  # as the launch block names it
    threads: int  # of a block
    registers: int  # a thread
    shared_bytes: int  # static and dynamic, a block


def footprints(file: KernelFile, device: DeviceSpec, problem: Problem) -> list[Footprint]:
    """The launches of a kernel file for a problem, compiled for a device. They need not fit it.

    Raises WarpladderError, with the compiler's words, for a file that cannot be compiled for that device.
    """
    try:
        kernel = prepare(file, architecture(device))
    except Refused as error:
        raise WarpladderError(f"{device.name}: {error.reason}", file=file.path) from None
    found = []
    for launch in plan(file, problem, kernel.constants, device.sms).launches:
        used = kernel.build.resources[kernel.build.lowered[launch.kernel]]
        shared = used.shared_bytes + launch.shared_bytes
        found.append(Footprint(launch.kernel, product(launch.block), used.registers, shared))
    return found
