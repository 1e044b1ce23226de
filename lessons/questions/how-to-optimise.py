"""Probes of how-to-optimise: what a profile says, and what a change can bring."""

from grader.interview.counted import recorded

CHECKERS = {
    "a kernel reads a buffer that was allocated and never filled": (
        "initcheck",
        "It finds reads of device memory that was never written",
    ),
    "two threads of a block write the same word of shared memory, with no barrier between": (
        "racecheck",
        "It looks for hazards in shared memory",
    ),
    "a barrier is inside an `if` that only some threads of the block enter": (
        "synccheck",
        "It checks that barriers are used correctly",
    ),
    "the last block stores past the end of its array": (
        "memcheck",
        "It checks that every access is in allocated memory",
    ),
    "a thread reads a tile before its neighbour has stored into it": (
        "racecheck",
        "It looks for hazards in shared memory",
    ),
}
"""Compute Sanitizer, "Overview" of its tools."""

PROFILERS = {
    "whether copies and kernels of two streams overlap": (
        "Nsight Systems",
        "It shows a timeline of the whole program",
    ),
    "what the warps of one kernel wait for": ("Nsight Compute", "Stall reasons are sampled within a kernel"),
    "where the GPU idles while the host synchronises": (
        "Nsight Systems",
        "Its timeline shows the host's calls above the GPU's work",
    ),
    "how many sectors a kernel's loads take for each request": (
        "Nsight Compute",
        "It shows the counters of a kernel",
    ),
    "which machine instructions a binary contains, without running it": (
        "cuobjdump",
        "It lists the SASS and PTX of a binary",
    ),
}

STALLS = {
    "long scoreboard": (
        "data from global memory",
        "the warp waits for a result from L1TEX, so from global or local memory",
    ),
    "short scoreboard": (
        "data from shared memory",
        "the warp waits for a result of the MIO pipeline, mostly from shared memory",
    ),
    "barrier": (
        "other warps of their block",
        "the warp waits at `__syncthreads()` until the slowest warp arrives",
    ),
    "math pipe throttle": (
        "a free arithmetic unit",
        "the arithmetic pipe that the warp's next instruction needs is busy",
    ),
}
"""Nsight Compute, Profiling Guide, "Warp Stall Reasons"."""

ENOUGH = 80  # per cent of a side from which it counts as the limit
COALESCED = 4  # sectors of a warp's load of floats

STEPS = {
    "coalescing the accesses to global memory": ("00_naive", "01_coalesced_writes", "02_shared_tile"),
    "padding the tile against bank conflicts": ("02_shared_tile", "03_padded_tile"),
    "moving a float4 with each instruction": ("03_padded_tile", "05_float4_tile"),
}


def which_checker(fault: str) -> dict[str, str]:
    """The tool of compute-sanitizer that finds a fault."""
    tool, reason = CHECKERS[fault]
    return {"answer": tool, "reason": reason}


def bound_us(read: int, write: int, gigaflop: int, bandwidth: int, tflops: int) -> dict[str, float]:
    """Microseconds of the longer of two roofs (Williams et al., Roofline, 2009)."""
    for_bytes = 1e3 * (read + write) / bandwidth
    for_flop = 1e3 * gigaflop / tflops
    return {"answer": max(for_bytes, for_flop), "for_bytes": for_bytes, "for_flop": for_flop}


def first_target(total: int, copies: int, a: int, b: int) -> dict[str, str | float]:
    """What has the largest share of a timeline (Best Practices Guide, "Assess")."""
    gaps = total - copies - a - b
    shares = {
        "filling the gaps": gaps,
        "avoiding copies": copies,
        "a faster kernel A": a,
        "a faster kernel B": b,
    }
    return {"answer": max(shares, key=lambda name: shares[name]), "gaps": gaps}


def which_profiler(question: str) -> dict[str, str]:
    """The tool that answers a question."""
    tool, reason = PROFILERS[question]
    return {"answer": tool, "reason": reason}


def limited_by(bars: str) -> str:
    """The limit by the two bars of Nsight Compute's "GPU Speed Of Light Throughput"."""
    memory, compute = (int(part.split()[1]) for part in bars.split(", ")[:2])
    if memory >= ENOUGH:
        return "memory bandwidth"
    return "arithmetic" if compute >= ENOUGH else "latency"


def stalled_on(reason: str) -> dict[str, str]:
    """What a stall reason stands for."""
    answer, meaning = STALLS[reason]
    return {"answer": answer, "meaning": meaning}


def sector_gain(share: int, sectors: int) -> dict[str, float]:
    """How many times as fast a kernel at the roof of bandwidth becomes if its scattered loads are coalesced."""
    left, rest = share * COALESCED / sectors, 100 - share
    return {"answer": 100 / (rest + left), "left": left, "rest": rest}


def largest_step() -> dict[str, str]:
    """The kind of step of the transpose ladder that took the most time off, of the record of an H200."""
    saved = {
        name: recorded("transpose", rungs[0]) - recorded("transpose", rungs[-1])
        for name, rungs in STEPS.items()
    }
    rungs = ["00_naive", *(rung for steps in STEPS.values() for rung in steps[1:])]
    times = ", ".join(f"{1e3 * recorded('transpose', rung):.2f}" for rung in rungs)
    return {"answer": max(saved, key=lambda name: saved[name]), "times": times}


def left_to_gain(share: int, reached: int) -> dict[str, float]:
    """Per cent of a program's time that a kernel at its bound would save."""
    saved = 100 - reached
    return {"answer": share * saved / 100, "saved": saved}
