"""A graph for a decoding step."""


def work_ms(gb: int, **_: object) -> float:
    """Bytes over bandwidth (Pope et al., 2022)."""
    return 1e3 * gb / 3350


def launched_ms(layers: int, each: int, gb: int, launch: int, **_: object) -> dict[str, float]:
    """The longer of the host's time and the GPU's (Gray, 2019)."""
    host, work = layers * each * launch / 1e3, 1e3 * gb / 3350
    return {"answer": max(host, work), "host": host, "work": work}


def graph_ms(layers: int, each: int, gb: int, node: float, **_: object) -> dict[str, float]:
    """Work and the overhead of each node (Gray, 2019)."""
    count, work = layers * each, 1e3 * gb / 3350
    return {"answer": work + count * node / 1e3, "work": work, "count": count}
