"""Probes of training at scale: overlap, the slowest worker, failures and checkpoints, batches."""

from math import exp, sqrt

HOURS_A_YEAR = 8760
GPUS_A_NODE = 8


def step_ms(forward: float, backward: float, buckets: int, network: float) -> dict[str, float | str]:
    """Milliseconds of a step whose buckets are reduced behind the backward pass, one after the other."""
    each, ready = network / buckets, backward / buckets
    if each <= ready:
        end, why = (
            backward + each,
            "The network keeps up, so only the last bucket is reduced after the backward pass",
        )
    else:
        end, why = (
            ready + network,
            "From the first bucket on the network is always busy, and the step waits for it",
        )
    return {"answer": forward + end, "each": each, "ready": ready, "why": why}


def hidden_percent(compute: float, network: float, step: float) -> dict[str, float]:
    """Per cent of the all-reduce that does not lengthen the step."""
    out = step - compute
    return {"answer": 100 * (network - out) / network, "out": out}


def slow_steps(n: int, one_in: int) -> dict[str, float]:
    """Per cent of steps in which at least one of n independent workers is slow."""
    quick = (1 - 1 / one_in) ** n
    return {"answer": 100 * (1 - quick), "quick": quick}


def fixed_worker(n: int, normal: float, slow: float) -> dict[str, float]:
    """Per cent of throughput left where one worker takes `slow` per cent longer."""
    return {"answer": 100 / (1 + slow / 100), "late": normal * (1 + slow / 100), "one": 100 / n}


def hours_between(years: int, gpus: int) -> dict[str, float]:
    """Hours between failures of any of the nodes, with independent failures."""
    nodes = gpus // GPUS_A_NODE
    return {"answer": years * HOURS_A_YEAR / nodes, "nodes": nodes}


def undisturbed(mean: float, hours: float) -> float:
    """Per cent: failures at random are a Poisson process."""
    return 100 * exp(-hours / mean)


def interval(save: float, hours: float) -> dict[str, float]:
    """Minutes between checkpoints that lose the least time: √(2·C·M) (Young, 1974)."""
    mean = 3600 * hours
    best = sqrt(2 * save * mean)
    return {"answer": best / 60, "mean": mean, "lost": 100 * (save / best + best / (2 * mean))}


def lost_percent(minutes: float, save: float, hours: float) -> dict[str, float]:
    """Per cent of time lost: C/T for saving, T/2M for work that is repeated (Young, 1974)."""
    saving, repeated = 100 * save / (60 * minutes), 100 * minutes / (2 * 60 * hours)
    return {"answer": saving + repeated, "saving": saving, "repeated": repeated}


def micro_batches(gpus: int, tensor: int, stages: int, batch: int) -> dict[str, float]:
    """Micro-batches of one sequence that each copy of the model runs; bubble (p − 1)/(m + p − 1) (GPipe)."""
    copies = gpus // (tensor * stages)
    each = batch // copies
    return {"answer": each, "copies": copies, "bubble": 100 * (stages - 1) / (each + stages - 1)}


def steps_and_samples(least: int, critical: int, batch: int, larger: int) -> dict[str, float]:
    """Sequences with the larger batch over those with the smaller: S = S_min (1 + B_crit/B) (McCandlish, 2018)."""
    before, after = least * (1 + critical / batch), least * (1 + critical / larger)
    return {"answer": after * larger / (before * batch), "before": before, "after": after}
