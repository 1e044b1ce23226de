"""What stays in the L2 cache."""


def read_us(mb: int, cache: int, fast: int, slow: int) -> dict[str, float]:
    """Bytes over the bandwidth of where they are (CUDA C++ Programming Guide, L2 cache persistence)."""
    rate, where = (fast, "L2") if mb <= cache else (slow, "DRAM")
    return {"answer": 1e3 * mb / rate, "where": where}


def chunked_us(mb: int, fast: int, **_: object) -> float:
    """Everything at the cache's bandwidth."""
    return 1e3 * mb / fast
