"""Compute-to-memory ratio of instructions: what a thread's tile makes of what it loads."""

from grader.analysis.devices import board

WARP = 32


def scalar_ratio(rows: int, columns: int) -> dict[str, float]:
    """Multiply-adds for each load of one float: a step of k takes a column of A and a row of B."""
    products, loads = rows * columns, rows + columns
    return {"answer": products / loads, "products": products, "loads": loads}


def float4_ratio(rows: int, columns: int) -> dict[str, float]:
    """The same where each load fetches four neighbouring floats; `rows` and `columns` are multiples of 4."""
    products, loads = rows * columns, rows // 4 + columns // 4
    return {"answer": products / loads, "products": products, "loads": loads}


def share_of_peak(products: int, wavefronts: int, device: str) -> dict[str, float]:
    """Per cent of the FP32 peak where arithmetic and shared memory overlap perfectly and the slower one decides.

    Compute capabilities 8.0 and 9.0: 128 bytes, one wavefront, of shared memory a clock (NVIDIA A100 and H100
    whitepapers); FP32 lanes of a multiprocessor in devices.toml.
    """
    lanes = board(device, "").capability.fma_lanes
    arithmetic = products / (lanes / WARP)
    return {
        "answer": 100 * arithmetic / max(arithmetic, wavefronts),
        "lanes": lanes,
        "rate": lanes / WARP,
        "arithmetic": arithmetic,
    }
