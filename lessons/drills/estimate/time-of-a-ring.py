"""Gradients in a ring."""


def sent(n: int, billion: int, **_: object) -> dict[str, float]:
    """2(n − 1)/n · S (Patarasuk and Yuan, 2009)."""
    return {"answer": 2 * (n - 1) / n * 2 * billion, "gb": 2 * billion}


def ms(n: int, billion: int, gbs: int) -> dict[str, float]:
    """Bytes sent over the link."""
    gb = 2 * (n - 1) / n * 2 * billion
    return {"answer": 1e3 * gb / gbs, "sent": gb}


def server(n: int, billion: int, gbs: int) -> dict[str, float]:
    """The server's link carries n·S in and n·S out."""
    return {"answer": 1e3 * 2 * n * 2 * billion / gbs, "gb": 2 * billion}
