"""Where the time of the tests goes: `python benchmarks/suite.py RUN.xml ... [--against OLD.xml ...]`.

Reads what pytest writes with `--junitxml RUN.xml`, and prints the time by package of tests/ and the twenty dearest
tests. Several files are parts of one run. With --against, each package has the earlier run's time and the difference,
the largest first. Times are set-up, call and teardown of each test: their sum is longer than the run where several
processes shared it.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from heapq import nlargest
from operator import itemgetter
from pathlib import Path
from xml.etree import ElementTree

DEAREST = 20
COLUMNS = 80


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--against", nargs="+", type=Path)
    chosen = parser.parse_args(arguments)
    tests = times(chosen.runs)
    against = chosen.against and by_package(times(chosen.against))
    print(differences(by_package(tests), against) if against else packages(tests))
    print(f"\n{dearest(tests)}")


def times(files: Iterable[Path]) -> dict[str, float]:
    """Seconds by test, such as "judge.test_corpus::test_reasons[gemm]". Raises SystemExit for what is no such file."""
    found: defaultdict[str, float] = defaultdict(float)
    for file in dict.fromkeys(files):
        try:
            cases = list(ElementTree.parse(file).iter("testcase"))
            for case in cases:
                module = case.attrib["classname"].removeprefix("tests.")
                found[f"{module}::{case.attrib['name']}"] += float(case.attrib["time"])
        except (OSError, ElementTree.ParseError, KeyError, ValueError) as error:
            raise SystemExit(f"{file}: it is none of pytest's --junitxml files ({error})") from None
        if not cases:
            raise SystemExit(f"{file}: no test stands in it")
    return found


def package(test: str) -> str:
    """The folder below tests/ in which a test lies; tests/ itself for those beside the folders."""
    folder, dot, _ = test.partition("::")[0].partition(".")
    return f"tests/{folder}" if dot and not folder.startswith("test_") else "tests"


def by_package(tests: dict[str, float]) -> dict[str, float]:
    found: defaultdict[str, float] = defaultdict(float)
    for test, seconds in tests.items():
        found[package(test)] += seconds
    return found


def packages(tests: dict[str, float]) -> str:
    """A line for each package, the dearest first."""
    seconds, counts = by_package(tests), Counter(map(package, tests))
    whole = sum(seconds.values())
    lines = [f"{'package':24}{'seconds':>10}{'share':>8}{'tests':>8}"]
    for name in sorted(seconds, key=seconds.__getitem__, reverse=True):
        lines.append(f"{name:24}{seconds[name]:10.1f}{seconds[name] / (whole or 1.0):8.0%}{counts[name]:8}")
    lines.append(f"{'all':24}{whole:10.1f}{'':8}{len(tests):8}")
    return "\n".join(lines)


def dearest(tests: dict[str, float]) -> str:
    lines = [f"{'seconds':>8}  test"]
    lines += [
        f"{seconds:8.1f}  {test}" for test, seconds in nlargest(DEAREST, tests.items(), key=itemgetter(1))
    ]
    return "\n".join(line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1]}…" for line in lines)


def differences(new: dict[str, float], old: dict[str, float]) -> str:
    """A line for each package, that with the largest difference first."""
    lines = [f"{'package':24}{'before':>10}{'now':>10}{'difference':>12}"]
    both = [(name, old.get(name, 0.0), new.get(name, 0.0)) for name in new | old]
    both.sort(key=lambda row: abs(row[2] - row[1]), reverse=True)
    for name, before, now in [*both, ("all", sum(old.values()), sum(new.values()))]:
        lines.append(f"{name:24}{before:10.1f}{now:10.1f}{now - before:+12.1f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
