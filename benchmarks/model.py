"""Holds the time model against the records of real GPUs: order of the rungs, and error.

    python benchmarks/model.py [RECORD.json …]

Without arguments: every record in measurements/. For each topic the rungs are modelled as `ladder climb` models them
on a machine without a GPU, for the recorded GPU and sizes. Printed are Kendall's τ between the modelled and the
measured order of the rungs, and each rung's modelled time over its measured one. The model has no parameter that
belongs to a kernel or a topic, so no topic was fitted.
"""

from __future__ import annotations

import itertools
import statistics
import sys
from pathlib import Path

from grader import topics
from grader.judge.climb import climb
from grader.results import Climb, load

MEASUREMENTS = Path(__file__).parent.parent / "measurements"


def kendall(first: list[float], second: list[float]) -> float:
    """τ-b: agreeing pairs minus disagreeing ones, over all pairs but ties."""
    pairs = list(itertools.combinations(zip(first, second, strict=True), 2))
    signs = [((a[0] > b[0]) - (a[0] < b[0]), (a[1] > b[1]) - (a[1] < b[1])) for a, b in pairs]
    score = sum(x * y for x, y in signs)
    size = (sum(abs(x) for x, _ in signs) * sum(abs(y) for _, y in signs)) ** 0.5
    return score / size if size else 1.0


def compare(record: Climb) -> list[float]:
    """Prints one topic; the ratios modelled / measured of its rungs."""
    modelled = climb(topics.load(record.topic), device="emulator")
    if modelled.problem != record.problem:
        sys.exit(f"{record.topic}: recorded at {record.problem}, modelled at {modelled.problem}")
    times = {rung.id: rung.time_s for rung in modelled.rungs}
    pairs = [(r.id, r.time_s, times[r.id]) for r in record.rungs if r.time_s and times.get(r.id)]
    tau = kendall([m for _, m, _ in pairs], [t for *_, t in pairs])
    print(f"{record.topic}  {record.problem}  on {record.device.name}: Kendall's tau {tau:.2f}")
    for name, measured, model in pairs:
        both = f"measured {measured * 1e6:12.1f} us   modelled {model * 1e6:12.1f} us"
        print(f"  {name:28} {both}   x {model / measured:.2f}")
    return [model / measured for _, measured, model in pairs]


def main() -> None:
    paths = [Path(name) for name in sys.argv[1:]] or sorted(MEASUREMENTS.glob("*/*.json"))
    ratios = [ratio for path in paths for ratio in compare(load(path, Climb))]
    factors = [max(ratio, 1 / ratio) for ratio in ratios]
    middle, worst = statistics.median(factors), max(factors)
    print(f"{len(factors)} rungs: off by a factor of {middle:.2f} (median), {worst:.2f} (worst)")


if __name__ == "__main__":
    main()
