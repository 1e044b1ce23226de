"""Who runs when: warps on schedulers, blocks on SMs, kernels of streams and of processes.

Sources: CUDA Programming Guide (streams, priorities, cooperative launch); NVIDIA Multi-Process Service; NVIDIA MIG User
Guide.
"""

import math

SCHEDULERS = 4  # of an SM
SLOTS = 132 * 2  # blocks resident at once in `waits_for_last`


def issue_rate(warps: int, every: int) -> dict[str, float]:
    """Instructions an SM issues in a clock, each warp ready every `every` clocks."""
    asked = warps / every
    return {"answer": min(asked, SCHEDULERS), "asked": asked}


def grid_time(blocks: int, sms: int, resident: int) -> dict[str, float]:
    """Milliseconds of a grid whose blocks take 1 ms each."""
    slots = sms * resident
    return {"answer": math.ceil(blocks / slots), "slots": slots}


def waits_for_last(blocks: int) -> dict[str, str]:
    """Whether blocks that wait for the last one leave it a place."""
    if blocks <= SLOTS:
        return {
            "answer": "it ends, as all blocks are resident",
            "so": "all of them run, including the last one",
        }
    return {
        "answer": "it hangs: the last block gets no slot",
        "so": "the last one waits for a slot, and no other block frees one",
    }


def wait_of_urgent(block: float, after: float) -> float:
    """Milliseconds until the resident blocks end."""
    return block - after


def without_mps(processes: int, ms: float) -> float:
    """Milliseconds of kernels of several processes, one after the other."""
    return processes * ms


def under_mps(processes: int, ms: float, percent: int) -> float:
    """Milliseconds of kernels that run together and share the bandwidth."""
    return ms * max(1, processes * percent / 100)


def under_mig(share: float, first: float, second: float) -> float:
    """GB/s of the second tenant, whose bandwidth the first one cannot touch."""
    del first
    return min(second, share)
