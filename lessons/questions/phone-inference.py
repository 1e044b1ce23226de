"""Probes of inference on a phone: products, lanes, islands of a delegate, uneven cores, heat."""

from math import sqrt

LANES = {"8-bit": 16, "16-bit": 8, "32-bit": 4}  # products of one 128-bit instruction
STRIDE = 32  # sides are multiples of a network's stride


def separable(k: int, channels: int) -> dict[str, float]:
    """Per cent of products of a depthwise separable convolution: 1/C′ + 1/k² (Howard et al., 2017)."""
    return {"answer": 100 * (1 / channels + 1 / k**2), "squared": k**2}


def resolution(before: float, after: float, old: int) -> dict[str, float]:
    """The largest side, a multiple of 32, with which the time is met."""
    exact = old * sqrt(after / before)
    return {"answer": int(exact / STRIDE) * STRIDE, "exact": exact}


def dot_instructions(pipes: int, ghz: float, instruction: str) -> dict[str, float]:
    """Billions of products a second: lanes × instructions a clock × clock."""
    each = next(lanes for width, lanes in LANES.items() if f" {width}" in instruction)
    return {"answer": each * pipes * ghz, "each": each}


def islands(cpu: float, share: float, islands: int, crossing: float) -> dict[str, float]:
    """Milliseconds with a part of the work on an NPU that is ten times as fast."""
    rest, npu = cpu * (100 - share) / 100, cpu * share / 100 / 10
    crossings = islands * crossing
    return {"answer": rest + npu + crossings, "rest": rest, "npu": npu, "crossings": crossings}


def pieces(chain: str, unknown: str) -> int:
    """Runs of known operators in a chain."""
    known = [name not in unknown for name in chain.split(", ")]
    return sum(here and not before for before, here in zip([False, *known], known, strict=False))


def equal_shares(big: int, ms: float, little: int, percent: int) -> dict[str, float]:
    """Milliseconds of the slowest core where the work is cut into equal parts."""
    work = big * ms  # in ms of a fast core
    total = big + little
    return {
        "answer": work / total / (percent / 100),
        "all": total,
        "best": work / (big + little * percent / 100),
    }


def sustained(ms: float, watts: float, shed: float) -> dict[str, float]:
    """Frames a second that both the time and the heat allow."""
    joules = watts * ms / 1e3
    heat, speed = shed / joules, 1e3 / ms
    return {"answer": min(heat, speed), "joules": joules, "heat": heat, "speed": speed}


def which_for_a_video(
    fps: int, gpu_ms: float, gpu_watts: float, npu_ms: float, npu_watts: float
) -> dict[str, float]:
    """Watts on average of the processor that takes less energy; both keep up with the frames."""
    gpu, npu = (fps * ms / 1e3 * watts for ms, watts in ((gpu_ms, gpu_watts), (npu_ms, npu_watts)))
    return {"answer": min(gpu, npu), "gpu": gpu, "npu": npu}
