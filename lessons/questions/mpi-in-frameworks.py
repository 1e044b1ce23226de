"""Probes of MPI in frameworks: where ranks sit, what staging costs, who waits for whom."""


def local_rank(nodes: int, gpus: int, placing: str, rank: int) -> dict[str, float | str]:
    """The rank's number on its node: block placement (fill) or round robin (deal out)."""
    if "fill" in placing:
        return {"answer": rank % gpus, "why": f"Each node has {gpus} successive ranks: {rank} mod {gpus}"}
    return {
        "answer": rank // nodes,
        "why": f"A round deals one rank to every node, and {rank} / {nodes}, rounded down, is the round of rank {rank}",
    }


def gpus_used(nodes: int, gpus: int) -> dict[str, float]:
    """Different values of rank mod gpus among the ranks node 0 gets, which are `nodes` apart."""
    used = len({(turn * nodes) % gpus for turn in range(gpus)})
    return {"answer": used, "each": gpus // used}


def culprit(numbers: str) -> dict[str, int]:
    """The rank whose last collective is behind those of the others."""
    entered = [int(number) for number in numbers.split(",")]
    return {"answer": entered.index(min(entered)), "waiting": min(entered) + 1, "behind": min(entered)}


def staged_ms(megabytes: float, network: float, pcie: float) -> dict[str, float]:
    """Copy out, send and copy in, over the network's time alone; MB over GB/s are ms."""
    direct, copies = megabytes / network, 2 * megabytes / pcie
    return {"answer": (direct + copies) / direct, "direct": direct, "copies": copies}


def idle_percent(layers: int, kernel: float, collective: float, gap: float) -> float:
    """Time with a gap in every layer over time without."""
    return layers * (kernel + collective + gap) / (layers * (kernel + collective))


def samples_a_step(least: int, most: int, each: int) -> dict[str, int]:
    """Samples of a step on the nodes that are left, which are enough to go on."""
    assert least < most, "the job could not go on"
    ranks = 8 * (most - 1)
    return {"answer": ranks * each, "left": most - 1, "ranks": ranks}
