"""A softmax over long rows."""


def safe_ms(rows: int, columns: int, bandwidth: int) -> dict[str, float]:
    """Four accesses an element (Milakov and Gimelshein, 2018, safe softmax)."""
    mb = 4 * rows * columns / 1e6
    return {"answer": 4 * mb / bandwidth, "mb": mb}


def online_ms(rows: int, columns: int, bandwidth: int) -> dict[str, float]:
    """Three accesses an element (Milakov and Gimelshein, 2018, online normalizer)."""
    mb = 4 * rows * columns / 1e6
    return {"answer": 3 * mb / bandwidth, "mb": mb}


def row_kib(columns: int, **_: object) -> float:
    """Four bytes an element."""
    return 4 * columns / 1024
