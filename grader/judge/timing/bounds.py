"""The time under which no version of a topic can run, and times that cannot be true."""

from __future__ import annotations

import math

from grader.analysis.devices import DeviceSpec
from grader.judge.refused import Refused
from grader.results import Bound
from grader.workbook.reference import Problem
from grader.workbook.topic import Topic

FASTEST_OVER_FP32 = 64.0
"""Tensor Cores of any GPU and any type are at most so many times as fast as its FP32 units, and FP32 products
can be put together from theirs; a time is called impossible only where even they could not have done the
work."""


MANY_TIMES = 8


def only_reads(topic: Topic, problem: Problem) -> bool:
    """Whether so little is written that a copy, which writes as much as it reads, is no bound."""
    return MANY_TIMES * topic.written_bytes(problem) <= topic.reference.min_bytes(problem)


def bound(topic: Topic, problem: Problem, device: DeviceSpec, moved_s: float | None = None) -> Bound | None:
    """The bound from what the device was measured to do at best; None where its rate of the arithmetic is not known.

    `moved_s` is how long it took in the same run to copy as many bytes as the problem has, or to read them where
    it only reads; without it, the device's table says how fast it does so. Rates are known of FP32 arithmetic,
    and of Tensor Cores for halves and bfloat16.
    """
    flop, nbytes = topic.reference.min_flop(problem), topic.reference.min_bytes(problem)
    units, rate = _flop_rate(topic, device) if flop else ("", math.inf)
    if rate is None:
        return None
    arithmetic = flop / rate
    memory = _traffic(topic, problem, device) if moved_s is None else moved_s
    if arithmetic > memory:
        return Bound(arithmetic, "arithmetic", flop, nbytes, "modelled", units)
    if moved_s is None:
        return Bound(memory, "memory", flop, nbytes, "modelled")
    return Bound(memory, "read" if only_reads(topic, problem) else "copy", flop, nbytes, "measured")


def _traffic(topic: Topic, problem: Problem, device: DeviceSpec) -> float:
    """Seconds of the problem's bytes. A device copies at a rate of its own; what a byte written costs follows."""
    written = topic.written_bytes(problem)
    read = topic.reference.min_bytes(problem) - written
    return read / device.dram_read + written * (2 / device.dram_copy - 1 / device.dram_read)


def _flop_rate(topic: Topic, device: DeviceSpec) -> tuple[str, float | None]:
    """What computes with the topic's inputs, integers aside, and how many floating-point operations a second a device
    makes there; None where that is not known. FP32 products can be put together on Tensor Cores, too, which is not
    counted here."""
    types = {str(item.dtype) for item in topic.signature.inputs if item.dtype.kind not in "iu"}
    if types == {"float32"}:
        return "FP32 units", 2.0 * device.capability.fma_lanes * device.sms * device.clock_hz
    return "Tensor Cores", device.peak_tensor if types in ({"float16"}, {"bfloat16"}) else None


def too_fast(topic: Topic, problem: Problem, device: DeviceSpec, time_s: float) -> Refused | None:
    """Refuse a measured time that no algorithm can reach: the work over the datasheet's peak rates.

    Memory counts only where the problem's bytes do not fit into the L2 cache.
    """
    flop, nbytes = topic.reference.min_flop(problem), topic.reference.min_bytes(problem)
    least = flop / (FASTEST_OVER_FP32 * device.peak_flop)
    if nbytes > device.l2_bytes:
        least = max(least, nbytes / device.peak_dram)
    if time_s >= least:
        return None
    return Refused(
        "fail",
        f"It was timed at {time_s * 1e6:.4g} µs, and {device.name} cannot do this problem in less than "
        f"{least * 1e6:.4g} µs: work is missing from the timed part, or is kept from an earlier pass.",
    )
