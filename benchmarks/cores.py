"""How many of a machine's cores a climb uses: `python benchmarks/cores.py [TOPIC] [--cores 1 2 4 8]`.

Climbs a topic on the emulator with so many cores each, in turn, and prints the median time of each, as a user waits for
it: once with no kernel compiled beforehand, once with all of them. The emulator's own runtime is compiled in any case.
Results have to be the same whatever the number of cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.emulator.cache import cache_folder
from grader.emulator.runtime import build


def main(arguments: Sequence[str] | None = None) -> None:
    usable = sorted(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("topic", nargs="?", default="gemm")
    parser.add_argument("--cores", type=int, nargs="+", default=powers(len(usable)))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--options", nargs=argparse.REMAINDER, default=[], help="further ones of ladder climb"
    )
    chosen = parser.parse_args(arguments)
    cores = [count for count in chosen.cores if count <= len(usable)]
    build.load()
    print(f"{chosen.topic} on {len(usable)} cores, {platform.machine()}, Python {platform.python_version()}")
    times: dict[tuple[int, bool], list[float]] = {}
    results: list[Any] = []
    for _ in range(chosen.runs):
        for count in cores:
            with tempfile.TemporaryDirectory() as folder:
                for runtime in cache_folder().glob("runtime-*.o"):
                    shutil.copy2(runtime, folder)
                for warm in (False, True):
                    seconds, result = climb(chosen.topic, usable[:count], Path(folder), chosen.options)
                    times.setdefault((count, warm), []).append(seconds)
                    results.append(result)
    if any(result != results[0] for result in results):
        sys.exit("the results differ")
    print(table(times))


def powers(most: int) -> list[int]:
    """1, 2, 4 and so on, and the last."""
    return [*(1 << i for i in range(most.bit_length()) if 1 << i < most), most]


def climb(topic: str, cpus: Sequence[int], cache: Path, options: Sequence[str]) -> tuple[float, Any]:
    """Seconds that a climb takes, start to end, and its result without what it says of the run."""
    command = [
        sys.executable,
        "-m",
        "grader",
        "climb",
        topic,
        "--device",
        "emulator",
        "--json",
        "-",
        *options,
    ]
    start = time.perf_counter()
    process = subprocess.run(
        command,
        env={**os.environ, "WARPLADDER_CACHE": str(cache)},
        capture_output=True,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        check=False,
    )
    seconds = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"the climb ended with {process.returncode}: {process.stderr}")
    result = json.loads(process.stdout)
    del result["provenance"]
    return seconds, result


def table(times: dict[tuple[int, bool], list[float]]) -> str:
    """A line for each number of cores; the ratio is to the line of the fewest."""
    lines = ["cores  nothing compiled   kernels compiled"]
    fewest = min(count for count, _ in times)
    for count in sorted({count for count, _ in times}):
        found = [statistics.median(times[count, warm]) for warm in (False, True)]
        first = [statistics.median(times[fewest, warm]) for warm in (False, True)]
        cells = (f"{item:7.2f} s ×{one / item:4.1f}" for item, one in zip(found, first, strict=True))
        lines.append(f"{count:5}  " + "    ".join(cells))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
