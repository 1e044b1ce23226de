"""Probes of flash-attention: bytes, tiles and FLOP, after Dao et al., 2022 and 2023, and Shah et al., 2024."""

import math

SIZES = {"FP16": 2, "FP8": 1}
SHARED_KIB = 227  # of a block of an H100 (CUDA C++ Programming Guide)
EXPONENTIALS = 16  # of an SM a clock (CUDA C++ Programming Guide, arithmetic throughput)


def gigabytes_saved(n: int, heads: int, d: int, what: str) -> dict[str, float]:
    """GB of S and P, each written and read, or of the operands and the result."""
    big, small = 4 * n * n * 2 * heads / 1e9, 4 * n * d * 2 * heads / 1e9
    return {"answer": big if what == "S and P" else small, "big": big, "small": small}


def tile_kib(rows: int, stages: int, keys: int, d: int, type: str) -> dict[str, float | str]:
    """KiB of a tile of Q and the stages of K and V."""
    answer = (rows + 2 * stages * keys) * d * SIZES[type] / 1024
    so = f"A block of an H100 may have {SHARED_KIB}."
    return {"answer": answer, "size": SIZES[type], "so": so}


def keys_read(n: int, d: int, rows: int) -> dict[str, float]:
    """MB of K and V, read by every block."""
    blocks = math.ceil(n / rows)
    return {"answer": blocks * 2 * n * d * 2 / 1e6, "blocks": blocks}


def attention_tflop(n: int, heads: int, mask: str, which: str) -> dict[str, float | str]:
    """TFLOP: two products forward; five backward, of which one recomputes S."""
    products, share = (2 if which == "forward" else 5), (0.5 if "causal" in mask else 1)
    answer = products * 2 * n * n * 128 * heads * share / 1e12
    return {
        "answer": answer,
        "products": products,
        "half": "halved by the mask" if share < 1 else "without a mask",
    }


def stored_for_backward(n: int, heads: int) -> float:
    """P in FP16 over a number in FP32 for each row."""
    return n / 2


def softmax_share(flop: int, d: int) -> dict[str, float]:
    """Clocks of an exponential over those of an element's products, in per cent (Shah et al., 2024, section 3)."""
    products = 4 * d / flop
    return {"answer": 100 / EXPONENTIALS / products, "products": products}


def decode_intensity(heads: int, kv: int) -> dict[str, float]:
    """FLOP for each byte of the cache: 4·d for each head of Q, over 4·d bytes in FP16."""
    return {"answer": heads / kv, "group": heads // kv}


def decode_blocks(batch: int, kv: int, sms: int) -> dict[str, float]:
    """Parts of the keys with which there are as many blocks as SMs."""
    return {"answer": math.ceil(sms / (batch * kv)), "blocks": batch * kv}
