"""Probes of an image pipeline: sums, maxima, cores, bytes. MB over GB/s are ms, KB over GB/s µs."""

from math import ceil

BYTES_A_PIXEL = {"as bytes, one for each value": 3, "in FP32": 12, "as a JPEG of 2 bits for each pixel": 0.25}


def amdahl(before: float, model: float, after: float, factor: float) -> dict[str, float]:
    """Speed-up of a sum of which one part becomes faster (Amdahl, 1967)."""
    total, now = before + model + after, before + model / factor + after
    return {"answer": total / now, "total": total, "now": now, "most": total / (before + after)}


def needed_factor(before: float, model: float, after: float, goal: float) -> dict[str, float]:
    """The factor that the middle stage needs for the goal."""
    left = goal - before - after
    return {"answer": model / left, "left": left}


def pipelined_rate(before: float, model: float, after: float, workers: int) -> dict[str, float]:
    """Pictures a second: the slowest stage, of which the first has several workers."""
    each = before / workers
    slowest = max(each, model, after)
    return {"answer": 1e3 / slowest, "each": each, "slowest": slowest}


def frames_in_flight(before: float, model: float, after: float) -> dict[str, float]:
    """Little's law: latency over period."""
    total, slowest = before + model + after, max(before, model, after)
    return {"answer": total / slowest, "total": total, "slowest": slowest, "buffers": ceil(total / slowest)}


def moved_rate(cores: int, cpu: float, model: float, gpu: float) -> dict[str, float]:
    """Pictures a second with pre-processing on the GPU over those with it on the CPU."""
    by_cpu, by_gpu, after = 1e3 * cores / cpu, 1e3 / model, 1e3 / (model + gpu)
    before = min(by_cpu, by_gpu)
    return {"answer": after / before, "by_cpu": by_cpu, "by_gpu": by_gpu, "before": before, "after": after}


def cores_needed(cpu: float, rate: int, gpus: int) -> float:
    """Little's law: pictures a second times seconds of a core each."""
    return gpus * rate * cpu / 1e3


def copy_us(width: int, height: int, form: str, bandwidth: float) -> dict[str, float]:
    """Microseconds of a copy at the link's rate."""
    kilobytes = width * height * BYTES_A_PIXEL[form] / 1e3
    return {"answer": kilobytes / bandwidth, "kilobytes": kilobytes}


def scaled_pixels(width: int, height: int, side: int) -> dict[str, int]:
    """Pixels saved by decoding at the smallest scale whose shorter side is still long enough."""
    scale = max(scale for scale in (1, 2, 4, 8) if min(width, height) // scale >= side)
    return {"answer": scale**2, "scale": scale}


def fused_bytes(last: str) -> dict[str, float]:
    """Bytes read and written for a value: byte to FP32, two passes in FP32, and FP32 to FP16."""
    separate, fused = 1 + 4 + 2 * (4 + 4), 1 + 4
    if last:
        separate, fused = separate + 4 + 2, 1 + 2
    return {"answer": separate / fused, "separate": separate, "fused": fused}
