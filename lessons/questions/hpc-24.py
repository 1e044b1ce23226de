"""Little's law: what is in flight is throughput times latency.

Source: Little, Operations Research 1961. Latency of FFMA: Jia and others, 2018 (Volta), and Huerta and others, 2025
(Turing and Ampere). Lanes of a multiprocessor are in devices.toml.
"""

import math

from grader.analysis.devices import board

WARP = 32
QUARTERS = 4  # of a multiprocessor
FFMA_LATENCY = 4  # clocks


def warps(chains: int, device: str) -> dict[str, float]:
    """Warps of a multiprocessor; each quarter has to be busy by its own, so it is four times that of one."""
    lanes = board(device, "").capability.fma_lanes / QUARTERS
    rate = lanes / WARP
    flight = rate * FFMA_LATENCY
    quarter = math.ceil(flight / chains)
    return {"answer": QUARTERS * quarter, "lanes": lanes, "rate": rate, "flight": flight, "quarter": quarter}


def loads(bandwidth_gb: int, latency_ns: int, sms: int, threads: int, bytes: int) -> dict[str, float]:
    """Loads that each thread needs in flight, rounded up; GB/s times ns are bytes."""
    flight = bandwidth_gb * latency_ns
    thread = flight / sms / threads
    return {"answer": math.ceil(thread / bytes), "flight": flight, "sm": flight / sms, "thread": thread}


def accumulators(ports: int, latency: int) -> int:
    """FMAs in flight."""
    return ports * latency
