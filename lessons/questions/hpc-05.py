"""Numbers of hpc-05: what a GPU can make of a program, and what it takes."""

from grader.analysis.devices import board
from grader.analysis.occupancy import WARP

FLOAT_BITS = 32


def offload_speed_up(total: int, share: int, factor: int, megabytes: int, gigabytes: int) -> dict[str, float]:
    """How many times as fast a program of `total` ms becomes if `share` percent of it go to a GPU.

    Amdahl's law (CUDA C++ Best Practices Guide, "Strong Scaling and Amdahl's Law") with the copies as a further term.
    """
    rest, loop = total * (100 - share) / 100, total * share / 100 / factor
    copies = 2 * megabytes / gigabytes
    after = rest + loop + copies
    return {
        "answer": total / after,
        "free": total / (rest + loop),
        "limit": total / rest,
        "rest": rest,
        "loop": loop,
        "copies": copies,
        "after": after,
    }


def peak_ratio(cores: int, gigahertz: float, units: int, bits: int, device: str) -> dict[str, float]:
    """The FP32 peak of a GPU's datasheet over that of a CPU: cores · clock · units · lanes · 2."""
    lanes = bits // FLOAT_BITS
    cpu = cores * gigahertz * units * lanes * 2 / 1e3
    gpu = board(device, "").peak_flop / 1e12
    return {"answer": gpu / cpu, "cpu": cpu, "gpu": gpu, "lanes": lanes}


def threads_in_flight(clocks: int, gigahertz: float, bandwidth: int, bytes: int) -> dict[str, float]:
    """Threads that keep latency · bandwidth bytes under way (Little's law), with `bytes` each."""
    in_flight = clocks / gigahertz * bandwidth  # ns · GB/s
    h100 = board("NVIDIA H100", "sm_90")
    return {
        "answer": in_flight / bytes,
        "in_flight": in_flight,
        "resident": h100.sms * h100.capability.warps * WARP,
    }
