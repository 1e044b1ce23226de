"""One field of a record."""


def _each(fields, piece):
    """Bytes that come from DRAM for each record."""
    return min(4 * fields, piece)


def records_mb(mega: int, fields: int, piece: int, **_: object) -> dict[str, float]:
    """Whole pieces are fetched (Best Practices Guide, Strided Accesses)."""
    return {"answer": mega * _each(fields, piece), "record": 4 * fields, "each": _each(fields, piece)}


def arrays_us(mega: int, bandwidth: int, **_: object) -> float:
    """Bytes over bandwidth."""
    return 4e3 * mega / bandwidth


def factor(fields: int, piece: int, **_: object) -> dict[str, float]:
    """Bytes fetched over bytes used."""
    return {"answer": _each(fields, piece) / 4, "each": _each(fields, piece)}
