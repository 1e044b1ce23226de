"""Weights in few bits."""


def bits_a_weight(bits: int, group: int, scale: int, **_: object) -> float:
    """Element bits and the scale's share (Rouhani et al., 2023)."""
    return bits + scale / group


def gb(billion: int, bits: int, group: int, scale: int) -> dict[str, float]:
    """Weights times bits, eight to a byte."""
    each = bits + scale / group
    return {"answer": billion * each / 8, "each": each}


def smaller(bits: int, group: int, scale: int, **_: object) -> dict[str, float]:
    """16 bits against those."""
    each = bits + scale / group
    return {"answer": 16 / each, "each": each}
