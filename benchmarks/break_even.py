"""From which size on the GPU is worth the way there: the topic `transfer`, swept over the size of its matrices.

    python benchmarks/break_even.py [--device pycuda|emulator] [N ...]

For every N: NumPy on this machine's CPU, and each rung, in microseconds a product. Without a GPU the rungs' times
are modelled for an H200, and comparing them with this CPU's says how the question is asked, not its answer.
"""

from __future__ import annotations

import argparse

from grader.judge.climb import climb
from grader.judge.correctness.cases import CaseStore
from grader.judge.schedules.climb import on_cpu
from grader.workbook import topics

SIZES = (16, 32, 64, 100, 150, 200, 300, 500, 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="auto")
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    given = parser.parse_args()
    topic = topics.load("transfer")
    ids = [rung.id for rung in topic.rungs]
    print(f"{'N':>6} {'CPU':>10}" + "".join(f"{name:>19}" for name in ids) + "   µs a product")
    first: dict[str, int] = {}
    for size in given.sizes:
        problem = topic.problem("main", {"N": size})
        cpu = on_cpu(topic, CaseStore(topic), problem)
        assert cpu is not None
        result = climb(topic, given.device, {"N": size})
        row = f"{size:>6} {1e6 * cpu.time_s / problem['T']:>10.2f}"
        for rung in result.rungs:
            assert rung.time_s is not None, rung.reason
            row += f"{1e6 * rung.time_s / problem['T']:>19.2f}"
            if rung.time_s < cpu.time_s:
                first.setdefault(rung.id, size)
        print(row, f"  ({result.rungs[0].time_source})", flush=True)
    for name in ids:
        print(f"{name}: faster than the CPU from N = {first.get(name, 'more than was tried')}")


if __name__ == "__main__":
    main()
