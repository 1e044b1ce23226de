"""One field of a record."""


def _each(fields):
    """Bytes of sectors that are fetched for each record."""
    return min(4 * fields, 32)


def records_mb(mega: int, fields: int, **_: object) -> dict[str, float]:
    """Whole sectors are fetched (Best Practices Guide, Strided Accesses)."""
    return {"answer": mega * _each(fields), "record": 4 * fields, "each": _each(fields)}


def arrays_us(mega: int, bandwidth: int, **_: object) -> float:
    """Bytes over bandwidth."""
    return 4e3 * mega / bandwidth


def factor(fields: int, **_: object) -> dict[str, float]:
    """Bytes fetched over bytes used."""
    return {"answer": _each(fields) / 4, "each": _each(fields)}
