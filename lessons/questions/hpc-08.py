"""Numbers of hpc-08: what shapes and memory leave of a Tensor Core's peak."""

from math import ceil

from grader.analysis.devices import DeviceSpec, board

HALF = 2  # bytes


def ridge(gpu: DeviceSpec) -> float:
    """Operations a byte at which DRAM and Tensor Cores take equally long, by the datasheet."""
    return gpu.peak_tensor / gpu.peak_dram


def tile_use(rows: int, columns: int, tile_rows: int, tile_columns: int) -> dict[str, float]:
    """Per cent of the computed elements that are wanted.

    NVIDIA, Matrix Multiplication Background User's Guide, "Tile Quantization".
    """
    across, along = ceil(rows / tile_rows), ceil(columns / tile_columns)
    computed = across * along * tile_rows * tile_columns
    wanted = rows * columns
    return {
        "answer": 100 * wanted / computed,
        "across": across,
        "along": along,
        "computed": computed,
        "wanted": wanted,
    }


def compute_bound_side(device: str, out_bytes: int) -> dict[str, float]:
    """The n at which 2n³ operations over 2n²·2 + n²·out_bytes bytes are the ridge point."""
    gpu = board(device, "")
    return {
        "answer": ridge(gpu) * (2 * HALF + out_bytes) / 2,
        "ridge": ridge(gpu),
        "tensor": gpu.peak_tensor / 1e12,
        "bandwidth": gpu.peak_dram / 1e12,
    }


def whole_speed_up(share: int, factor: int) -> dict[str, float]:
    """Amdahl's law: 1 / (1 − p + p / s)."""
    rest = 100 - share
    return {"answer": 100 / (rest + share / factor), "rest": rest, "limit": 100 / rest}


def batch_share(batch: int, n: int, device: str) -> dict[str, float]:
    """Per cent of the Tensor Cores' peak that the roofline allows: intensity over ridge point, 100 at most."""
    gpu = board(device, "")
    intensity = 2 * batch * n * n / (HALF * (n * n + 2 * batch * n))
    return {
        "answer": min(100.0, 100 * intensity / ridge(gpu)),
        "intensity": intensity,
        "ridge": ridge(gpu),
    }
