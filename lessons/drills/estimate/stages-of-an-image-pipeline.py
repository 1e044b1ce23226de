"""The slowest stage of an image pipeline."""


def _stages(cores, decode, copy, infer):
    return {"decoding": decode / cores, "copying": copy, "inference": infer}


def rate(cores: int, decode: int, copy: float, infer: float) -> dict[str, float]:
    """A pipeline goes at the pace of its slowest stage; all else is Amdahl's serial part (Amdahl, 1967)."""
    return {"answer": 1e3 / max(_stages(cores, decode, copy, infer).values()), "each": decode / cores}


def limit(cores: int, decode: int, copy: float, infer: float) -> dict[str, object]:
    """The stage that takes longest."""
    stages = _stages(cores, decode, copy, infer)
    return {"answer": max(stages, key=lambda name: stages[name]), "each": decode / cores}


def speedup(cores: int, decode: int, copy: float, infer: float) -> dict[str, float]:
    """Longest stage before over longest stage after."""
    before = max(_stages(cores, decode, copy, infer).values())
    after = max(_stages(cores, decode, copy, infer / 2).values())
    return {"answer": before / after, "before": before, "after": after}
