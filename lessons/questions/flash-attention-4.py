"""Probes of FlashAttention-4: rates of MMA and exponentials, the threshold, TMEM and registers.

Source: Zadouri et al., FlashAttention-4, 2026, and Dao-AILab/flash-attention, flash_attn/cute/flash_fwd_sm100.py.
"""

import math
import re

EXPONENTIALS = {"B200": 16, "B300": 32}  # a clock and SM
MMA = 8192  # FLOP a clock and SM, BF16
KEYS = 128
THRESHOLD = 8  # log2 units
COLUMNS = 512


def least_clocks(flop: int, rows: int, d: int) -> dict[str, float]:
    """The longer of the products and the exponentials of one tile."""
    mma = 4 * rows * KEYS * d / flop
    exponentials = rows * KEYS / EXPONENTIALS["B200"]
    return {"answer": max(mma, exponentials), "mma": mma, "exponentials": exponentials}


def into_the_exponent(x: float) -> dict[str, float]:
    """The floor of x, which goes into the exponent's bits."""
    n = math.floor(x)
    return {"answer": n, "fraction": x - n}


def share_emulated(slots: int, free: int) -> dict[str, float]:
    """Shares are as the rates, so that both units end together."""
    rate = free / slots
    return {"answer": 100 * rate / (rate + EXPONENTIALS["B200"]), "rate": rate}


def rescalings(maxima: str, threshold: int) -> dict[str, float | str]:
    """How often a row's reference is replaced."""
    tiles = [int(number) for number in re.findall(r"\d+", maxima)]
    kept = _references(tiles, threshold)
    return {
        "answer": len(kept) - 1,
        "references": ", ".join(str(reference) for reference in kept),
        "always": len(_references(tiles, 0)) - 1,
    }


def element_of_p(reference: int, score: int) -> dict[str, float | str]:
    """2^(score - reference), with the reference that the threshold leaves."""
    rise = score - reference
    kept = score if rise > THRESHOLD else reference
    becomes = f"becomes {score}" if rise > THRESHOLD else "stays"
    return {"answer": 2.0 ** (score - kept), "rise": rise, "becomes": becomes, "kept": kept}


def tmem_columns(keys: int, d: int, where: str) -> dict[str, float | str]:
    """Columns of two tiles of S and O, and of P where it has its own: two elements to a column."""
    of_p = 0 if where.startswith("over") else keys
    total = 2 * keys + 2 * d + of_p
    return {"answer": total, "of_p": of_p, "so": "That does not fit." if total > COLUMNS else "That fits."}


def registers_left(softmax: int, correction: int) -> int:
    """512 registers for one thread of each of four warpgroups."""
    return 65536 // 128 - 2 * softmax - correction


def percent_of_products(gpu: str, d: int) -> dict[str, float]:
    """Time of an exponential over that of 4 d FLOP, in per cent."""
    rate = EXPONENTIALS[gpu]
    return {"answer": 100 * (1 / rate) / (4 * d / MMA), "rate": rate}


def _references(tiles: list[int], threshold: int) -> list[int]:
    kept = tiles[:1]
    for most in tiles[1:]:
        if most - kept[-1] > threshold:
            kept.append(most)
    return kept
