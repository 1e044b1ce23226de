"""What a launch of a topic's kernel is given, and what it touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.emulator.streams.commands import LaunchKernel, Place
from grader.emulator.streams.ordering import Extent
from grader.workbook.topic import ScheduledKernel


def values(kernel: ScheduledKernel, launch: LaunchKernel) -> Mapping[str, int] | None:
    """The sizes that a launch passes, by name; None where its arguments are not the kernel's."""
    params = kernel.file.signature.params
    if len(params) != len(launch.args):
        return None
    found = {}
    for item, argument in zip(params, launch.args, strict=True):
        if (item.kind == "size") == isinstance(argument, Place):
            return None
        if isinstance(argument, bytes):
            if len(argument) != item.nbytes:
                return None
            found[item.name] = int.from_bytes(argument, "little", signed=item.dtype.kind == "i")
            if found[item.name] < 0:
                return None
    return found


def reach(kernel: ScheduledKernel, launch: LaunchKernel) -> Sequence[Extent]:
    """The bytes that a launch reads and writes, by its pointers."""
    sizes = values(kernel, launch)
    if sizes is None:
        return []
    found = []
    for item, argument in zip(kernel.file.signature.params, launch.args, strict=True):
        if isinstance(argument, Place):
            nbytes = kernel.reach[item.name].whole(sizes) * item.dtype.itemsize
            found.append(Extent(argument, nbytes, item.kind == "output"))
    return found
