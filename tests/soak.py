"""The sweeps over all content, by area, in parts that end within some ten minutes on two cores.

    python tests/soak.py [--only AREA] [--part K/N] [--jobs 2]      (`make soak ONLY=judge PART=2/8`)

A part is remembered in build/soak/ with its commit and its time. It holds until something changes on which its area
depends, and is not run again before; so a soak that was broken off goes on where it stopped. At the end stands what
fell short. Exit code 1 where something did.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import msgspec
from rich.console import Console

from grader import areas

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "soak"

EMULATOR = (
    ":(glob)grader/*.py",
    *(f"grader/{part}" for part in areas.EMULATOR),
    "grader/workbook",
    "grader/findings",
)
JUDGE = (
    ":(glob)grader/*.py", *(f"grader/{part}" for part in areas.JUDGE), "kernels",
    "lessons/*/topic.toml", "lessons/*/*.py", "lessons/*/starter.*", "lessons/programs",
)  # fmt: skip
LESSONS = (
    "grader/report",
    "grader/interview",
    "grader/history",
    "grader/lab",
    "lessons",
    "measurements",
)
COMMANDS = (
    "grader/cli",
    "grader/course/commands",
    "grader/report",
    "grader/interview",
    "grader/history",
    "grader/learn",
    "grader/web",
    "grader/lab",
)


@dataclass(frozen=True)
class Area:
    """How many parts an area has, and what its results depend on, beside its tests: pathspecs of git. `make` makes what
    is needed before; pytest imports all of tests/, whichever tests it runs."""

    parts: int
    depends: tuple[str, ...]
    make: str = "soak-needs"


AREAS = {
    "emulator": Area(1, (*EMULATOR, "grader/analysis", "book/machine")),
    "judge": Area(
        6, (*JUDGE, *COMMANDS, "benchmarks", "docs", "README.md", "CONTRIBUTING.md", "tests/submissions")
    ),
    "course": Area(2, (*JUDGE, *COMMANDS, "grader/course", "benchmarks/classroom", "book/instructor.md")),
    "book": Area(3, (*JUDGE, *LESSONS, "notebooks", "book", "docs", "README.md"), "book soak-needs"),
    "interview": Area(3, (*JUDGE, *LESSONS, "grader/cli", "benchmarks")),
    "setup": Area(1, ("pyproject.toml", "Makefile", *EMULATOR, "notebooks/cloud.ipynb")),
}


class Result(msgspec.Struct, frozen=True):
    """What came of a part."""

    area: str
    part: str  # k/n
    digest: str  # of all it depends on
    commit: str
    seconds: float
    tests: int
    short: list[str]  # the tests that failed, and what they said first

    @property
    def file(self) -> Path:
        return kept_at(self.area, self.part)


def kept_at(area: str, part: str) -> Path:
    """Where a part is remembered."""
    return KEPT / f"{area}-{part.replace('/', '-of-')}.json"


def digest(area: str) -> str:
    """Changes with the content of everything an area depends on, committed or not."""
    listed = {*files("pyproject.toml", *AREAS[area].depends), *tests_of(area)}
    found = hashlib.sha256(sys.version.encode())
    for file in sorted(listed):
        found.update(f"{file.relative_to(ROOT)}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def tests_of(area: str) -> set[Path]:
    """All helpers of tests, and the tests that name the area, or a helper that does."""
    texts = {file: file.read_text(encoding="utf-8") for file in files("tests/*.py")}
    helpers = {file for file in texts if not file.name.startswith("test_")}
    names = "|".join([f'"{area}"', *(file.stem for file in helpers if f'"{area}"' in texts[file])])
    return helpers | {file for file, text in texts.items() if re.search(names, text)}


def files(*paths: str) -> Iterator[Path]:
    """What git has there, or would take; `*` stands for folders, too."""
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths)
    yield from (file for name in listed.split("\0") if name and (file := ROOT / name).is_file())


def git(*arguments: str) -> str:
    return subprocess.run(("git", *arguments), cwd=ROOT, capture_output=True, text=True, check=True).stdout


def remembered(area: str, part: str) -> Result | None:
    """A part that holds still; None where it has to be run."""
    try:
        result = msgspec.json.decode(kept_at(area, part).read_bytes(), type=Result)
    except (OSError, msgspec.DecodeError):
        return None
    return result if result.digest == digest(area) and not result.short else None


def run(area: str, part: str, jobs: int) -> Result:
    """Sweep a part, and remember it. Tests run in the order of their files, so that a part is the same each time."""
    report = kept_at(area, part).with_suffix(".xml")
    report.unlink(missing_ok=True)
    before, commit, start = digest(area), stands(), time.monotonic()
    select = ["-m", f"soak(area={area!r})", "--part", part, f"--junitxml={report}", "-q", "-p", "no:randomly"]
    parallel = ["-n", str(jobs), "--dist", "loadgroup"]
    running = subprocess.Popen([sys.executable, "-m", "pytest", *select, *parallel], cwd=ROOT)
    try:
        status = running.wait()
    except BaseException:
        running.terminate()
        running.wait()
        raise
    tests, short = read(report)
    if status and not short:  # also where it has found no test
        short = [f"pytest ended with status {status}"]
    result = Result(area, part, before, commit, time.monotonic() - start, tests, short)
    result.file.write_bytes(msgspec.json.format(msgspec.json.encode(result)))
    return result


def stands() -> str:
    """The commit that is tried, -dirty where there is more."""
    more = "-dirty" if git("status", "--porcelain") else ""
    return git("rev-parse", "--short=8", "HEAD").strip() + more


def read(report: Path) -> tuple[int, list[str]]:
    """How many tests there were, and those that failed, as pytest takes them."""
    if not report.is_file():
        return 0, []
    cases = list(ElementTree.parse(report).iter("testcase"))
    bad = [(case, item) for case in cases for item in case if item.tag in ("failure", "error")]
    said = [(item.get("message") or item.text or "").strip().partition("\n")[0] for _, item in bad]
    names = [test_id(case.get("classname", ""), case.get("name", "")) for case, _ in bad]
    return len(cases), [f"{name}: {words}" for name, words in zip(names, said, strict=True)]


def test_id(classname: str, name: str) -> str:
    """tests/a/test_b.py::TestC::test_d[e], of "tests.a.test_b.TestC" and "test_d[e]@group"."""
    parts = classname.split(".")
    depth = next(
        (n for n in range(len(parts), 0, -1) if ROOT.joinpath(*parts[:n]).with_suffix(".py").is_file()), 0
    )
    inner = [*parts[depth:], re.sub(r"@[\w-]+$", "", name)]
    return "::".join(["/".join(parts[:depth]) + ".py", *inner]) if depth else f"{classname}::{name}"


def wanted(only: str, part: str) -> Iterator[tuple[str, str]]:
    """Areas and their parts."""
    for area, what in AREAS.items():
        if only in ("", area):
            parts = [part] if part else [f"{number}/{what.parts}" for number in range(1, what.parts + 1)]
            yield from ((area, each) for each in parts)


def a_part(text: str) -> str:
    """K/N, or "" for all parts. Raises ArgumentTypeError."""
    number, slash, of = text.partition("/")
    if text and not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text} is no part: give K/N with K from 1 to N, such as 2/6")
    return f"{int(number)}/{int(of)}" if text else ""


def an_area(text: str) -> str:
    """An area, or "" for all. Raises ArgumentTypeError."""
    if text and text not in AREAS:
        raise argparse.ArgumentTypeError(f"{text} is no area: give one of {', '.join(AREAS)}")
    return text


def a_count(text: str) -> int:
    """A whole number from 1. Raises ArgumentTypeError."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number of processes")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--only", default="", type=an_area, metavar="AREA", help=f"one of {', '.join(AREAS)}; else all"
    )
    help_of_part = "the K-th of N parts; else all of an area's own"
    parser.add_argument("--part", default="", type=a_part, metavar="K/N", help=help_of_part)
    parser.add_argument(
        "--jobs", type=a_count, default=2, metavar="N", help="processes that share a part's tests"
    )
    given = parser.parse_args(arguments)
    if given.part and not given.only:
        parser.error("--part is a part of one area: give --only as well")
    KEPT.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    results: list[Result] = []
    try:
        for result in swept(given.only, given.part, given.jobs):
            results.append(result)
    except KeyboardInterrupt:
        show(results)
        print("Broken off. What stands here is kept: the same command goes on from there.")
        return 130
    show(results)
    return any(result.short for result in results)


def swept(only: str, part: str, jobs: int) -> Iterator[Result]:
    """Each part that is wanted, run where it does not hold."""
    made = set[str]()
    for area, each in wanted(only, part):
        if (result := remembered(area, each)) is None:
            if (needs := AREAS[area].make) not in made:
                subprocess.run(["make", *needs.split()], cwd=ROOT, check=True)
                made.add(needs)
            result = run(area, each, jobs)
        yield result


def show(results: Sequence[Result]) -> None:
    """A line a part, then what fell short."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(f"\n{'area':<10} {'part':<6} {'commit':<15} {'minutes':>7} {'tests':>6} {'short':>6}")
    for each in results:
        line = f"{each.area:<10} {each.part:<6} {each.commit:<15} {each.seconds / 60:>7.1f} {each.tests:>6}"
        console.print(f"{line} {len(each.short):>6}")
    for line in (line for each in results for line in each.short):
        console.print(line)


if __name__ == "__main__":
    sys.exit(main())
