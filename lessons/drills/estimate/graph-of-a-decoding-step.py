"""A graph for a decoding step."""


def _work(gb: int) -> float:
    return 1e3 * gb / 3350


def work_ms(gb: int, **_: object) -> float:
    """Bytes over bandwidth (Pope et al., 2022)."""
    return _work(gb)


def launched_ms(layers: int, each: int, gb: int, launch: int, gap: float, **_: object) -> dict[str, float]:
    """The longer of the host's time and the GPU's (Gray, 2019)."""
    count, work = layers * each, _work(gb)
    host, gpu = count * launch / 1e3, work + count * gap / 1e3
    return {"answer": max(host, gpu), "count": count, "host": host, "work": work, "gpu": gpu}


def graph_ms(layers: int, each: int, gb: int, node: float, **_: object) -> dict[str, float]:
    """Work and the gap before each node (Gray, 2019)."""
    count, work = layers * each, _work(gb)
    return {"answer": work + count * node / 1e3, "work": work, "count": count}
