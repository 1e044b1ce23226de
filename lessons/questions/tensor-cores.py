"""Probes of tensor-cores: what shapes and memory leave of a Tensor Core's peak."""

import re
from math import ceil

from grader.analysis.access import LANES
from grader.analysis.devices import board

HALF = 2  # bytes
WIDE = 16  # bytes of the widest load of a thread
ROWS = 64

SINCE = {
    "FP16": "7.0",
    "INT8": "7.5",
    "BF16": "8.0",
    "TF32": "8.0",
    "FP64": "8.0",
    "FP8": "8.9",
    "FP4": "10.0",
}
"""The first compute capability: PTX ISA, "Target ISA Notes" of wmma, mma and tcgen05.mma."""

BOARDS = {
    "7.0": "Tesla V100",
    "7.5": "Tesla T4",
    "8.0": "NVIDIA A100",
    "8.9": "NVIDIA L4",
    "10.0": "NVIDIA B200",
}

BYTES = {"FP8": 1, "FP16": 2, "FP32": 4}


def ffma_replaced(shape: str) -> dict[str, float]:
    """Instructions of 32 multiply-adds that one mma of this shape stands for (PTX ISA, "mma")."""
    m, n, k = (int(size) for size in re.findall(r"\d+", shape))
    return {"answer": m * n * k // LANES, "m": m, "n": n, "k": k, "macs": m * n * k}


def uses_of_an_operand(m: int, n: int, k: int) -> int:
    """Multiply-adds over elements of the m × k operand."""
    return m * n * k // (m * k)


def oldest_for(type: str) -> dict[str, str]:
    """The first board whose Tensor Cores take the type."""
    return {"answer": BOARDS[SINCE[type]], "capability": SINCE[type]}


def over_lanes(device: str) -> dict[str, float]:
    """Tensor Cores' peak over that of FP32, of the datasheets in devices.toml."""
    gpu = board(device, "")
    return {
        "answer": gpu.peak_tensor / gpu.peak_flop,
        "tensor": gpu.peak_tensor / 1e12,
        "lanes": gpu.peak_flop / 1e12,
    }


def tensor_peak(sms: int, gigahertz: float, macs: int) -> float:
    """TFLOP/s: SMs · multiply-adds a clock · 2 · clock (NVIDIA Ampere Architecture In-Depth)."""
    return sms * macs * 2 * gigahertz / 1e3


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


def aligned_rows(columns: int) -> dict[str, float]:
    """Rows of halves that begin at a multiple of 16 bytes (Matrix Multiplication Background, "Requirements")."""
    pitch = HALF * columns
    return {"answer": sum(pitch * row % WIDE == 0 for row in range(ROWS)), "bytes": pitch}


def batch_share(ridge: int, batch: int, n: int) -> dict[str, float]:
    """Per cent of the Tensor Cores' peak that the roofline allows: intensity over ridge point, 100 at most."""
    intensity = 2 * batch * n * n / (HALF * (n * n + 2 * batch * n))
    return {"answer": min(100.0, 100 * intensity / ridge), "intensity": intensity}


def decode_intensity(heads: int, format: str) -> dict[str, float]:
    """Operations a byte of the KV cache when one token is decoded: a multiply-add a head for each cached number.

    Keys meet the query, values the scores; what is read or written once a head is negligible for long contexts.
    """
    return {"answer": 2 * heads / BYTES[format], "bytes": BYTES[format]}


def whole_speed_up(share: int, factor: int) -> dict[str, float]:
    """Amdahl's law: 1 / (1 − p + p / s)."""
    rest = 100 - share
    return {"answer": 100 / (rest + share / factor), "rest": rest, "limit": 100 / rest}


def softmax_share(tensor: int, exponentials: float, head: int) -> dict[str, float]:
    """Time of the exponentials over that of the products, in per cent (Shah et al., FlashAttention-3, 2024)."""
    percent = 100 * tensor / exponentials / (4 * head)
    return {"answer": percent, "doubled": 2 * percent}
