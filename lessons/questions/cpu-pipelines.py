"""Clocks of loops and branches. Source: Hennessy and Patterson, Computer Architecture, chapter 3."""

from math import ceil

LATENCIES = {"load": 5, "*": 4, "+": 1}
MISS, REST = 16, 2


def earliest(program: str) -> int:
    """When the last result is ready, by true dependences alone."""
    ready: dict[str, int] = {}
    last = 0
    for step in program.split("; "):
        target, source = step.split(" = ")
        words = source.split()
        operation = "load" if words == ["load"] else words[1]
        start = max((ready[word] for word in words if word in ready), default=0)
        ready[target] = start + LATENCIES[operation]
        last = max(last, ready[target])
    return last


def loop_bound(ops: int, loads: int, width: int, chain: int) -> dict[str, float]:
    """The largest of three bounds."""
    bounds = {"by_width": ops / width, "by_loads": loads / 2, "by_chain": 4 * chain}
    return {"answer": max(bounds.values()), **bounds}


def accumulators(latency: int, units: int, n: int, acc: int) -> dict[str, float]:
    """n over what chains and units allow."""
    most = min(acc, latency * units)
    return {"answer": n * latency / most, "most": most}


def if_or_mask(work: int, percent: int, form: str) -> dict[str, float | str]:
    """Mean clocks with misses, or with all the work."""
    if "always" in form:
        return {"answer": REST + work, "why": f"{REST} + {work}"}
    share = percent / 100
    missed = min(share, 1 - share)
    why = f"{REST} + {share:.2f} · {work} + {missed:.2f} · {MISS}"
    return {"answer": REST + share * work + missed * MISS, "why": why}


def pattern(pattern: str, start: int) -> int:
    """Misses of a 2-bit counter in 12 branches."""
    outcomes = [word == "taken" for word in pattern.split(", ")]
    counter, missed = start, 0
    for i in range(12):
        taken = outcomes[i % len(outcomes)]
        missed += taken != (counter >= 2)
        counter = min(3, counter + 1) if taken else max(0, counter - 1)
    return missed


def warps_needed(distance: int, latency: int) -> dict[str, float]:
    """Instructions in flight over those of a warp."""
    exact = latency / distance
    return {"answer": ceil(exact), "exact": exact}


def both_sides(a: int, b: int, case: str) -> dict[str, float | str]:
    """With 32 independent lanes both sides are nearly always taken."""
    if "agree" in case:
        return {
            "answer": (a + b) / 2,
            "why": "A warp executes one side only, and half of the warps execute each",
        }
    return {
        "answer": a + b,
        "why": "Except in one case of 2³¹, some of the 32 lanes take each side, so the warp executes both",
    }
