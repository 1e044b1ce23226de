"""The numbers of hpc-15: what fits on an SM, and what keeps memory busy."""

from grader.analysis.devices import DeviceSpec, boards
from grader.analysis.occupancy import MAX_BLOCK_THREADS, REGISTER_UNIT, REGISTERS, WARP, occupancy

QUARTERS = 4  # of an SM, each with its own registers and warps
MOST_REGISTERS = 255  # of a thread, from compute capability 3.5 on
MOST_THREADS = 2048  # of an SM of an A100 or H100


def blocks_per_sm(threads: int, registers: int, shared_kib: int, device: str) -> dict[str, float]:
    """Blocks resident on an SM, and what each resource would allow by itself.

    Source: CUDA C++ Programming Guide, Technical Specifications per Compute Capability; units of allocation:
    cuda_occupancy.h of the CUDA toolkit.
    """
    board = _board(device)
    sm = board.capability
    shared = shared_kib * 1024
    taken = -(-(shared + sm.shared_reserved) // sm.shared_unit) * sm.shared_unit
    warps = -(-threads // WARP)
    return {
        "answer": occupancy(board, threads, registers, shared).blocks_per_sm,
        "by_warps": sm.warps // warps,
        "by_registers": _warps_by_registers(registers) // warps,
        "by_shared": sm.shared_bytes // taken if taken else sm.blocks,
        "by_blocks": sm.blocks,
    }


def most_registers(blocks: int, threads: int, device: str) -> dict[str, float]:
    """Most registers a thread with which so many blocks are resident; the inverse of the sum above."""
    warps = blocks * -(-threads // WARP)
    per_quarter = -(-warps // QUARTERS)
    per_warp = REGISTERS // QUARTERS // per_quarter // REGISTER_UNIT * REGISTER_UNIT
    answer = min(per_warp // WARP, MOST_REGISTERS)
    board = _board(device)
    assert threads <= MAX_BLOCK_THREADS
    assert occupancy(board, threads, answer, 0).blocks_per_sm >= blocks
    return {"answer": answer, "warps": warps, "per_quarter": per_quarter, "per_warp": per_warp}


def bytes_in_flight(latency_ns: float, bandwidth_tb: float, sms: int) -> dict[str, float | str]:
    """Little's law: concurrency = latency × throughput, shared evenly by the SMs.

    Source: J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9 (1961).
    """
    total = latency_ns * 1e-9 * bandwidth_tb * 1e12
    threads = total / sms / 4
    if threads > MOST_THREADS:
        so = "So each thread has to have more than one load under way, or a wider one."
    else:
        so = "So that would do at a high occupancy; with several loads a thread, or wider ones, a lower one does, too."
    return {"answer": total / sms / 1024, "total_mib": total / 2**20, "threads": threads, "so": so}


def _warps_by_registers(registers: int) -> int:
    """Warps whose registers fit; a quarter of an SM holds whole warps."""
    per_warp = -(-registers * WARP // REGISTER_UNIT) * REGISTER_UNIT
    return REGISTERS // QUARTERS // per_warp * QUARTERS


def _board(device: str) -> DeviceSpec:
    return next(spec for spec in boards() if spec.name == device)
