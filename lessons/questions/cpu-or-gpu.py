"""Probes of cpu-or-gpu: what a GPU can make of a program, and what it takes."""

from grader.analysis.access import LANES, SECTOR
from grader.analysis.devices import board

FLOAT = 4  # bytes


def busy_share(warps: int, issue: int, wait: int) -> dict[str, float]:
    """Per cent of the clocks in which a scheduler issues, if each warp issues and then waits.

    CUDA C++ Programming Guide, "Multiprocessor Level": latency is hidden while other warps have instructions to issue.
    """
    period = issue + wait
    return {"answer": min(100.0, 100 * warps * issue / period), "period": period, "needed": period / issue}


def threads_in_flight(clocks: int, gigahertz: float, bandwidth: int, bytes: int) -> dict[str, float]:
    """Threads that keep latency · bandwidth bytes under way (Little's law), with `bytes` each."""
    in_flight = clocks / gigahertz * bandwidth  # ns · GB/s
    h100 = board("NVIDIA H100", "sm_90")
    return {
        "answer": in_flight / bytes,
        "in_flight": in_flight,
        "resident": h100.sms * h100.capability.warps * LANES,
    }


def lane_use(every: int, many: int, few: int) -> dict[str, float]:
    """Per cent of the lanes' places that are used: a warp goes round a loop as often as its slowest lane.

    CUDA C++ Programming Guide, "SIMT Architecture": threads that have left the loop are disabled meanwhile.
    """
    used = sum(many if lane % every == 0 else few for lane in range(LANES))
    issued = LANES * many
    return {"answer": 100 * used / issued, "used": used, "issued": issued}


def gather_waste(bytes: int) -> float:
    """Bytes moved for each byte used, where every lane touches a sector of its own."""
    return SECTOR / bytes


def copies_against_cpu(millions: int, memory: int, link: int) -> dict[str, float]:
    """How long the copies of a + b take, over the CPU's whole job: two arrays in and one out."""
    megabytes = 3 * FLOAT * millions
    cpu, copies = megabytes / memory, megabytes / link  # MB / (GB/s) is ms
    return {"answer": copies / cpu, "cpu": cpu, "copies": copies}


def offload_speed_up(total: int, share: int, factor: int, copies: int) -> dict[str, float]:
    """How many times as fast a program of `total` ms becomes if `share` percent of it go to a GPU.

    Amdahl's law (CUDA C++ Best Practices Guide, "Strong Scaling and Amdahl's Law") with the copies as a further term.
    """
    rest, loop = total * (100 - share) / 100, total * share / 100 / factor
    after = rest + loop + copies
    return {"answer": total / after, "limit": total / rest, "rest": rest, "loop": loop, "after": after}


def peak_ratio(cores: int, gigahertz: float, units: int, bits: int, tflops: int) -> dict[str, float]:
    """A GPU's FP32 peak over that of a CPU: cores · clock · units · lanes · 2."""
    lanes = bits // (8 * FLOAT)
    cpu = cores * gigahertz * units * lanes * 2 / 1e3
    return {"answer": tflops / cpu, "cpu": cpu, "lanes": lanes}


def gpu_peak(sms: int, lanes: int, gigahertz: float) -> float:
    """TFLOP/s: SMs · lanes · clock · 2 (Programming Guide, "Throughput of Native Arithmetic Instructions")."""
    return sms * lanes * gigahertz * 2 / 1e3
