"""Hiding gradients behind the backward pass."""


def _end(backward, buckets, reduce):
    """A pipeline of two stages: one bucket through both, the others at the pace of the slower."""
    made, sent = backward / buckets, reduce / buckets
    return made + sent + (buckets - 1) * max(made, sent)


def end_ms(backward: int, buckets: int, reduce: int, **_: object) -> dict[str, float]:
    """Buckets overlap with the backward pass (Li et al., 2020, section 3.2)."""
    return {"answer": _end(backward, buckets, reduce), "made": backward / buckets, "sent": reduce / buckets}


def exposed_ms(backward: int, buckets: int, reduce: int, **_: object) -> dict[str, float]:
    """What remains after the backward pass."""
    end = _end(backward, buckets, reduce)
    return {"answer": end - backward, "end": end}


def bucket_mb(gb: int, buckets: int, **_: object) -> float:
    """An equal part."""
    return 1e3 * gb / buckets
