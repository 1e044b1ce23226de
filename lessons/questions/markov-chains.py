"""Small Markov chains. Source: Levin and Peres, Markov Chains and Mixing Times, chapters 1, 2 and 4."""

from functools import reduce
from math import ceil, gcd, log


def two_states(a: float, b: float) -> float:
    """Per cent of the time in the state that is left with probability a."""
    return 100 * b / (a + b)


def graph_walk(edges: str) -> dict[str, float]:
    """Mean return time to A: sum of degrees over its degree."""
    ends = [end for edge in edges.split(", ") for end in edge]
    return {"answer": len(ends) / ends.count("A"), "degree": ends.count("A"), "total": len(ends)}


def settles(moves: str) -> dict[str, str]:
    """By reachability and the period of the return times."""
    edges = {(move[0], move[2]) for move in moves.split(", ")}
    states = sorted({state for edge in edges for state in edge})
    reach = _walks(edges, states, 20)
    several = "It has several stationary distributions"
    if any(not reach[a, b] for a in states for b in states):
        return {
            "answer": several,
            "why": "There are two closed classes, which are never left, so the result depends on the start",
        }
    period = reduce(gcd, reach["A", "A"])
    if period > 1:
        return {
            "answer": "It has one stationary distribution, but need not converge",
            "why": f"Each state is reachable from each other, but returns take a multiple of {period} steps: periodic",
        }
    return {
        "answer": "It converges to one distribution from any start",
        "why": "Each state is reachable from each other, and return times have no common factor: it is aperiodic",
    }


def after_n(a: float, b: float, n: int) -> dict[str, float]:
    """π + (1 − π)·λ₂ⁿ."""
    pi, second = b / (a + b), 1 - a - b
    return {"answer": pi + (1 - pi) * second**n, "pi": pi, "l": second}


def iterations(jump: float, wanted: float) -> dict[str, float]:
    """Steps until (1 − jump)ⁿ is small enough."""
    exact = log(wanted) / log(1 - jump)
    return {"answer": ceil(exact), "exact": exact}


def hitting_time(n: int, start: int) -> int:
    """n² − start², which solves h(i) = 1 + (h(i − 1) + h(i + 1)) / 2 with h(0) = 1 + h(1)."""
    return n * n - start * start


def ruin(start: int, n: int, p: float) -> dict[str, float | str]:
    """The gambler's ruin."""
    r = (1 - p) / p
    if p == 0.5:
        return {"answer": start / n, "r": r, "formula": f"{start}/{n}"}
    return {"answer": (1 - r**start) / (1 - r**n), "r": r, "formula": f"(1 − r^{start}) / (1 − r^{n})"}


def _walks(edges: set[tuple[str, str]], states: list[str], most: int) -> dict[tuple[str, str], list[int]]:
    """The lengths of walks, up to the most, from each state to each."""
    found: dict[tuple[str, str], list[int]] = {(a, b): [] for a in states for b in states}
    for start in states:
        now = {start}
        for length in range(1, most + 1):
            now = {b for a, b in edges if a in now}
            for end in now:
                found[start, end].append(length)
    return found
