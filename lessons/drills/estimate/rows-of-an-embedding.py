"""Rows of embedding tables."""


def _mb(batch, lookups, tables, dim):
    return batch * lookups * tables * 2 * dim / 1e6


def mb(batch: int, lookups: int, tables: int, dim: int, **_: object) -> float:
    """Rows of all lookups (Naumov et al., 2019, section 2.1)."""
    return float(_mb(batch, lookups, tables, dim))


def us(batch: int, lookups: int, tables: int, dim: int, bandwidth: int) -> dict[str, float]:
    """Bytes over bandwidth; a row is whole sectors."""
    found = _mb(batch, lookups, tables, dim)
    return {"answer": 1e3 * found / bandwidth, "mb": found}


def gb(tables: int, dim: int, million: int, **_: object) -> float:
    """Rows times two bytes a number."""
    return tables * million * 2 * dim / 1e3
