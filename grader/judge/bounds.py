"""The time under which no version of a topic can run, and times that cannot be true."""

from __future__ import annotations

from grader.analysis.devices import DeviceSpec
from grader.judge.verdict import Refusal
from grader.results import Bound
from grader.topics import Problem, Topic

FASTEST_OVER_FP32 = 64.0
"""Tensor Cores of any GPU and any type are at most so many times as fast as its FP32 units, and FP32 products
can be put together from theirs; a time is called impossible only where even they could not have done the
work."""


def bound(topic: Topic, problem: Problem, device: DeviceSpec, copy_s: float | None = None) -> Bound | None:
    """The bound from what the device was measured to do at best; None where its arithmetic rate is not known.

    `copy_s` is the time of a copy of the problem's bytes in the same run; without it, the device's table says
    how fast it copies. Rates are known of FP32 arithmetic.
    """
    if any(item.dtype != "float32" for item in topic.signature.inputs):
        return None
    flop, nbytes = topic.reference.min_flop(problem), topic.reference.min_bytes(problem)
    arithmetic = flop / (2.0 * device.capability.fma_lanes * device.sms * device.clock_hz)
    memory = nbytes / device.dram_copy if copy_s is None else copy_s
    if arithmetic > memory:
        return Bound(arithmetic, "arithmetic", flop, nbytes, "modelled")
    if copy_s is None:
        return Bound(memory, "memory", flop, nbytes, "modelled")
    return Bound(memory, "copy", flop, nbytes, "measured")


def too_fast(topic: Topic, problem: Problem, device: DeviceSpec, time_s: float) -> Refusal | None:
    """Refuse a measured time that no algorithm can reach: the work over the datasheet's peak rates.

    Memory counts only where the problem's bytes do not fit into the L2 cache.
    """
    flop, nbytes = topic.reference.min_flop(problem), topic.reference.min_bytes(problem)
    least = flop / (FASTEST_OVER_FP32 * device.peak_flop)
    if nbytes > device.l2_bytes:
        least = max(least, nbytes / device.peak_dram)
    if time_s >= least:
        return None
    return Refusal(
        "fail",
        f"It was timed at {time_s * 1e6:.4g} µs, and {device.name} cannot do this problem in less than "
        f"{least * 1e6:.4g} µs: work is missing from the timed part, or is kept from an earlier pass.",
    )
