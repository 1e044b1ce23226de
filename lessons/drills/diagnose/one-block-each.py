"""How many blocks are resident."""

from grader.analysis import devices
from grader.analysis.occupancy import occupancy


def resident() -> int:
    """Blocks of 1024 threads, few registers and a KiB of shared memory (CUDA C++ Programming Guide, "Technical
    Specifications per Compute Capability")."""
    board = devices.named("H200")
    return board.sms * occupancy(board.capability, 1024, 32, 1024).blocks_per_sm
