"""A GPU cluster for many teams."""

import math


def _jobs(small, small_h, large, width, large_h):
    return small * small_h + large / 24 * large_h * width * 8


def busy(small: int, small_h: int, large: int, width: int, large_h: int, **_: object) -> float:
    """L = λW for both kinds of job (Little, 1961), times GPUs a job."""
    return float(_jobs(small, small_h, large, width, large_h))


def load(
    nodes: int, small: int, small_h: int, large: int, width: int, large_h: int, notebooks: int, **_: object
) -> dict[str, float]:
    """Jobs and notebooks over all GPUs."""
    jobs, gpus = _jobs(small, small_h, large, width, large_h), 8 * nodes
    return {"answer": 100 * (jobs + notebooks) / gpus, "jobs": jobs, "gpus": gpus}


def saved(notebooks: int, **_: object) -> float:
    """Seven instances a GPU at the most (NVIDIA Multi-Instance GPU User Guide)."""
    return notebooks - math.ceil(notebooks / 7)


def spread_nodes(nodes: int, small: int, small_h: int, **_: object) -> dict[str, float]:
    """One on each node first."""
    jobs = small * small_h
    return {"answer": max(0, nodes - jobs), "jobs": jobs}


def packed_nodes(nodes: int, small: int, small_h: int, **_: object) -> dict[str, float]:
    """Eight to a node."""
    jobs = small * small_h
    return {"answer": nodes - math.ceil(jobs / 8), "jobs": jobs}


def lost_work(minutes: int, gpus: int, times: int) -> float:
    """Half an interval each time (Young, 1974)."""
    return times * minutes / 2 / 60 * gpus


def whole_chance(n: int, percent: int) -> float:
    """Independent events multiply."""
    return 100 * (percent / 100) ** n


def wait_h(k: int, hours: int) -> float:
    """The expected largest of k uniform variables: k/(k + 1)."""
    return hours * k / (k + 1)


def used_share(allocated: int, held: int, used: int) -> float:
    """Shares multiply and add up."""
    return allocated / 100 * (held / 100 * 5 + (1 - held / 100) * used)
