"""Numbers of hpc-01: how a launch is cut into blocks, warps and waves."""

from math import ceil

from grader.analysis.devices import board
from grader.analysis.occupancy import WARP, occupancy


def warps_of_image(width: int, height: int, bx: int, by: int) -> dict[str, float]:
    """Warps of a grid that covers width × height pixels with blocks of bx × by threads.

    CUDA C++ Programming Guide, "SIMT Architecture": a block is cut into warps, the last of which may be partly empty.
    """
    blocks = ceil(width / bx) * ceil(height / by)
    warps = ceil(bx * by / WARP)
    return {"answer": blocks * warps, "blocks": blocks, "warps": warps}


def warp_of_thread(bx: int, by: int, x: int, y: int) -> dict[str, float]:
    """The warp of thread (x, y) of a block of bx × by threads.

    CUDA C++ Programming Guide, "Thread Hierarchy": the thread's number is x + y·Dx; warps are cut in that order.
    """
    assert x < bx
    assert y < by
    number = y * bx + x
    return {"answer": number // WARP, "number": number}


def waves(threads: int, registers: int, blocks: int, device: str) -> dict[str, float | str]:
    """How often the SMs of `device` are filled to run `blocks` blocks of equal length.

    Blocks an SM from grader.analysis.occupancy, SMs from its table of boards.
    """
    gpu = board(device, "")
    resident = occupancy(gpu, threads, registers, 0)
    at_once = resident.blocks_per_sm * gpu.sms
    count = ceil(blocks / at_once)
    return {
        "answer": count,
        "per_sm": resident.blocks_per_sm,
        "limit": resident.limited_by,
        "at_once": at_once,
        "sms": gpu.sms,
        "last_percent": 100 * (blocks - (count - 1) * at_once) / at_once,
    }
