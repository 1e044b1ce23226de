"""What the launches of a kernel file take of a multiprocessor, compiled for any architecture; nothing is run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.analysis.devices import DeviceSpec
from grader.errors import WarpladderError
from grader.judge.forecast import architecture
from grader.judge.kernels.compiled import prepare
from grader.judge.kernels.counting import product
from grader.judge.refused import Refused
from grader.workbook.kernel_file import Rung, parse_kernel_file, plan
from grader.workbook.topics import Problem, Topic


@dataclass(frozen=True)
class Footprint:
    """One launch."""

    kernel: str  # as the launch block names it
    threads: int  # of a block
    registers: int  # a thread
    shared_bytes: int  # static and dynamic, a block


def footprints(topic: Topic, rung: Rung, device: DeviceSpec, problem: Problem) -> list[Footprint]:
    """The launches of a kernel file for a problem, compiled for a device. They need not fit it.

    Raises WarpladderError, with the compiler's words, for a file that cannot be compiled for that device.
    """
    try:
        kernel = prepare(rung, architecture(device))
    except Refused as error:
        raise WarpladderError(f"{device.name}: {error.reason}", file=rung.path) from None
    found = []
    for launch in plan(rung, problem, kernel.constants, device.sms).launches:
        used = kernel.build.resources[kernel.build.lowered[launch.kernel]]
        shared = used.shared_bytes + launch.shared_bytes
        found.append(Footprint(launch.kernel, product(launch.block), used.registers, shared))
    return found


def kernel_file(topic: Topic, name: str) -> Rung:
    """The kernel file meant by a path, or by the name of one of the topic's rungs, such as "05_float4".

    Raises WarpladderError for schedules, which have no kernel of their own, and for a file that is neither.
    """
    if topic.kernel is not None:
        return topic.kernel.file
    for rung in topic.rungs:
        if name == rung.id:
            return rung
    path = Path(name)
    if not path.is_file():
        rungs = ", ".join(rung.id for rung in topic.rungs)
        raise WarpladderError("there is no such file", file=path, remedy=f"or name a rung: {rungs}")
    return parse_kernel_file(path, topic.signature)
