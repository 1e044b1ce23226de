"""Compute-to-memory ratio of instructions: what a thread's tile makes of what it loads.

Source of the ratios: CUTLASS, Efficient GEMM in CUDA; of the wavefronts: `grader.analysis.access`, which Nsight Compute
bears out on an H200.
"""

from grader.analysis.access import LANES, shared_access
from grader.analysis.intensity import RegisterTile

MOST_REGISTERS = 255  # of a thread
FLOAT, FLOAT4 = 4, 16  # bytes


def scalar_ratio(rows: int, columns: int) -> dict[str, float]:
    """Multiply-adds for each load of one float: a step of k takes a column of A and a row of B."""
    return _ratio(RegisterTile(rows, columns))


def tile_for_ratio(wanted: int) -> dict[str, float]:
    """Outputs of the smallest square tile with that many multiply-adds for each load of a float."""
    side = next(side for side in range(1, 64) if RegisterTile(side, side).ratio >= wanted)
    return {"answer": side**2, "side": side}


def float4_ratio(rows: int, columns: int) -> dict[str, float]:
    """Multiply-adds for each load of a float4; `rows` and `columns` are multiples of 4."""
    return _ratio(RegisterTile(rows, columns, width=4))


def share_of_peak(products: int, wavefronts: int, rate: int) -> dict[str, float]:
    """Per cent of the FP32 peak where arithmetic and shared memory overlap perfectly and the slower one decides.

    Compute capabilities 8.0 and 9.0: 128 bytes, one wavefront, of shared memory a clock (NVIDIA A100 and H100
    whitepapers).
    """
    arithmetic = products / rate
    return {"answer": 100 * arithmetic / max(arithmetic, wavefronts), "arithmetic": arithmetic}


def wavefronts(floats: int) -> dict[str, float]:
    """Wavefronts of reading `floats` floats a lane with float4s that lie side by side."""
    loads = floats * FLOAT // FLOAT4
    each = len(shared_access([FLOAT4 * lane for lane in range(LANES)], FLOAT4).wavefronts)
    return {"answer": loads * each, "loads": loads, "each": each, "bytes": LANES * FLOAT * floats}


def registers_of_tile(rows: int, columns: int) -> dict[str, float | str]:
    """Registers of sums and operands."""
    registers = RegisterTile(rows, columns).registers
    return {"answer": registers, "so": "It would spill." if registers > MOST_REGISTERS else "It fits."}


def _ratio(tile: RegisterTile) -> dict[str, float]:
    return {"answer": tile.ratio, "products": tile.multiply_adds, "loads": tile.loads}
