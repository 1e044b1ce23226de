"""Probes of wgmma: shapes, registers and shared-memory bandwidth.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"; the peak of an SM from NVIDIA's H100 whitepaper,
2,048 FP16 multiply-adds a clock.
"""

GROUP = 128  # threads of a warpgroup
ROWS = 64  # of one wgmma
MOST_COLUMNS = 256
K_BYTES = 32
SIZES = {"FP8": 1, "FP16": 2, "TF32": 4}
FMA = 2048  # of an SM a clock, FP16
SHARED = 128  # bytes a clock
MOST_REGISTERS = 255


def instructions_a_stage(m: int, n: int, groups: int, k: int, type: str) -> dict[str, float]:
    """wgmma of one warpgroup for one stage."""
    rows, step = m // groups, K_BYTES // SIZES[type]
    down, across, steps = rows // ROWS, -(-n // MOST_COLUMNS), k // step
    return {
        "answer": down * across * steps,
        "rows": rows,
        "down": down,
        "across": across,
        "steps": steps,
        "step": step,
    }


def percent_of_peak(n: int, where: str) -> dict[str, float]:
    """The Tensor Cores' clocks over shared memory's, of one 64 × n × 16."""
    compute = ROWS * n * 16 / FMA
    bytes = 2 * 16 * (n + (ROWS if where == "shared memory" else 0))
    read = bytes / SHARED
    return {"answer": 100 * min(1, compute / read), "compute": compute, "bytes": bytes, "read": read}


def accumulators(m: int, n: int, groups: int) -> dict[str, float | str]:
    """FP32 registers of a thread for a tile."""
    answer = m * n / (groups * GROUP)
    fits = (
        "A thread can have 255, so some are left for everything else."
        if answer < 200
        else "That is too many: a thread can have 255, and needs some for everything else."
    )
    return {"answer": answer, "so": fits}


def registers_of_consumers(consumers: int, launched: int, kept: int) -> dict[str, float]:
    """What `setmaxnreg` can give each consumer: the block's registers less the producer's."""
    total = (1 + consumers) * launched
    return {"answer": min((total - kept) // consumers // 8 * 8, 256), "total": total}


def pending_groups(stages: int, pending: int, i: int) -> int:
    """The newest iteration whose group is complete."""
    return i - pending


def runs_on(instruction: str, virtual: str, device: str) -> dict[str, str]:
    """What a program with PTX of one virtual architecture does on a device (PTX ISA, `.target`)."""
    if instruction == "`wgmma`" and virtual == "90":
        return {
            "answer": "ptxas rejects it",
            "why": "`wgmma` needs the target `sm_90a`; `sm_90` does not have it",
        }
    if device == "an H200":
        return {
            "answer": "its SASS runs",
            "why": f"An H200 has compute capability 9.0, so SASS for {virtual} fits",
        }
    if virtual == "90a":
        why = "SASS and PTX for 90a run on compute capability 9.0 only, whatever they contain"
        return {"answer": "no image fits this device", "why": why}
    return {
        "answer": "its PTX is compiled at load and runs",
        "why": "PTX for 90 can be compiled for capability 9.0 and every later one",
    }
