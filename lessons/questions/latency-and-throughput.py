"""Little's law: what is in flight is throughput times latency.

Source: Little, Operations Research 1961. Latency of FFMA: Jia and others, 2018 (Volta), and Huerta and others, 2025
(Turing and Ampere).
"""

import math

WARP = 32
QUARTERS = 4  # of a multiprocessor
FFMA_LATENCY = 4  # clocks
LINE = 64  # bytes of a CPU's cache line
CPU_NS = 90  # of a CPU's load from DRAM


def last_result(latency: int, count: int, how: str) -> dict[str, float | str]:
    """Clocks until the last of `count` results, in a pipeline that starts one instruction a clock."""
    if how.startswith("all independent"):
        return {
            "answer": count - 1 + latency,
            "sum": f"The last instruction starts {count - 1} clocks after the first: {count - 1} + {latency}",
        }
    return {
        "answer": count * latency,
        "sum": f"Each instruction waits for the one before: {count} · {latency}",
    }


def most_bandwidth(misses: int, latency_ns: float) -> float:
    """GB/s of a core with so many lines in flight; bytes over ns are GB/s."""
    return misses * LINE / latency_ns


def in_flight(bandwidth_tb: float, latency_ns: float) -> float:
    """KB that have to be in flight: TB/s times ns are KB."""
    return bandwidth_tb * latency_ns


def warps(chains: int, lanes: int) -> dict[str, float]:
    """Warps of a multiprocessor; each quarter has to be busy by its own, so it is four times that of one."""
    rate = lanes / WARP
    flight = rate * FFMA_LATENCY
    quarter = math.ceil(flight / chains)
    return {"answer": QUARTERS * quarter, "rate": rate, "flight": flight, "quarter": quarter}


def accumulators(ports: int, latency: int) -> int:
    """FMAs in flight."""
    return ports * latency


def loads(bandwidth_gb: int, latency_ns: int, sms: int, threads: int, bytes: int) -> dict[str, float]:
    """Loads that each thread needs in flight, rounded up; GB/s times ns are bytes."""
    flight = bandwidth_gb * latency_ns
    thread = flight / sms / threads
    return {"answer": math.ceil(thread / bytes), "flight": flight, "sm": flight / sms, "thread": thread}


def lists(gpu_ns: int, cpu: int) -> dict[str, float]:
    """The fewest lists with which a GPU visits more nodes a second than a CPU core that follows `cpu` of them."""
    rate = cpu / CPU_NS
    return {"answer": math.floor(rate * gpu_ns) + 1, "rate": rate}
