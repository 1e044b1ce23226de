"""The roofs of a ladder: every rung of a climb placed under those of a device."""

from __future__ import annotations

from grader import topics
from grader.analysis.devices import DeviceSpec, board
from grader.analysis.roofline import Growth, Placed, place
from grader.results import Climb


def device_of(result: Climb) -> DeviceSpec:
    """What is known of the device that a climb's times are of."""
    return board(result.device.name, result.device.arch)


def placed(result: Climb) -> list[Placed]:
    """The rungs that have a time and counters, under the roofs of the climb's device.

    Counters are of smaller sizes than times. They are scaled: bytes of DRAM as the bytes grow that any algorithm has
    to move, everything else as the operations grow. Raises WarpladderError for a topic that is not known.
    """
    growth = _growth(result)
    device = device_of(result)
    found = (place(device, rung, growth) for rung in result.rungs if rung.verdict == "pass")
    return [item for item in found if item is not None]


def _growth(result: Climb) -> Growth:
    if result.counted is None or result.counted == result.problem:
        return Growth()
    reference = topics.load(result.topic).reference
    moved = reference.min_bytes(result.problem) / reference.min_bytes(result.counted)
    computed = reference.min_flop(result.counted)
    return Growth(reference.min_flop(result.problem) / computed if computed else moved, moved)
