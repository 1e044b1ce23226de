"""Probes of tvm: functions, schedules and the size of a search."""

from math import comb, log2

FLOAT = 4
CONVERTER, RULE = "frontend converter", "schedule rule"
INTRINSIC, EXTERNAL = "tensor intrinsic", "BYOC patterns and code generator"
PLACES = {
    "Importing stops at an ATen operator that could be made of existing ones.": (
        CONVERTER,
        "the rest of the compiler then needs nothing new",
    ),
    "A decode product of one row compiles and reaches a tenth of the bandwidth.": (
        RULE,
        "what is computed is right, how it is mapped is not",
    ),
    "The CPU has a new instruction for dot products of four bytes, and loops do not use it.": (
        INTRINSIC,
        "declared once, it is put in place of an inner loop by tensorize",
    ),
    "An NPU comes with a closed compiler that takes whole convolution blocks.": (
        EXTERNAL,
        "subgraphs are cut out and handed over",
    ),
    "All reductions over a short last axis leave most threads idle.": (
        RULE,
        "another binding of loops to threads",
    ),
    "The vendor's library has a fused attention that is to replace a subgraph.": (
        EXTERNAL,
        "a pattern finds the subgraph, and a call takes its place",
    ),
}


def functions_made(calls: str) -> dict[str, int | str]:
    """Distinct pairs of operator and shape."""
    distinct = list(dict.fromkeys(calls.split(", ")))
    return {"answer": len(distinct), "distinct": "; ".join(distinct)}


def blocks_bound(m: int, n: int, a: int, b: int) -> dict[str, int]:
    """Product of the outer extents."""
    return {"answer": -(-m // a) * -(-n // b), "threads": a * b}


def cached_bytes(a: int, b: int, bk: int) -> int:
    """Bytes of the two tiles that an iteration of ko reads."""
    return (a * bk + bk * b) * FLOAT


def tilings(extent: int, factors: int) -> dict[str, int]:
    """Ordered factorisations of a power of two: C(power + factors − 1, factors − 1)."""
    power = int(log2(extent))
    return {"answer": comb(power + factors - 1, factors - 1), "power": power}


def tuning_minutes(layers: int, distinct: int, trials: int, seconds: int, boards: int) -> float:
    """Minutes of all trials of the distinct tasks."""
    return distinct * trials * seconds / boards / 60


def where_to_work(problem: str) -> dict[str, str]:
    """The part of TVM that a problem belongs to."""
    place, why = PLACES[problem]
    return {"answer": place, "why": why}
