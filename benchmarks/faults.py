"""Faults planted in the grader itself: whether the tests see them, before and after the suite was cut.

    python benchmarks/faults.py draw [--seed 29]
    python benchmarks/faults.py run [--only ID ...] [--jobs 1] [--workers 1] [--seconds 600] [--select "not soak"]
                                    [--results build/faults.jsonl]
    python benchmarks/faults.py compare BEFORE AFTER

`draw` draws five faults in each of six areas, uniformly over all places where one can be made, and writes them to
`mutation/faults.toml`: a comparison, a constant, a condition or what is returned, changed within one line.

`run` plants each in a copy of the tree and runs the tests there that import the module by any way, those nearest to it
first, until one fails that fails again, and does not fail without the fault. Tests that fail in any case, such as those
of what is not installed, are left out. JOBS faults are tried at a time, and tests far from them by WORKERS processes;
a fault that SECONDS of tests do not see is a time out. A second call goes on where the first ended, in the same file
of results, unless --only names faults, which are then tried anew.

`compare` shows what saw each fault in two such files, and fails where one is seen no longer.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from mutation.nearness import ROOT, files, importers, tested
from mutation.python import changes

FAULTS = Path(__file__).parent / "mutation" / "faults.toml"
AREAS: dict[str, tuple[str, ...]] = {
    **{area: (area,) for area in ("emulator", "judge", "course", "interview")},
    "workbook": ("workbook", "findings"),
    "report": ("report", "lab"),
}
EACH = 5
CHUNKS = (3, 10)
"""How many test modules are run at first, and then; the others follow."""

NO_TESTS, NOT_FOUND = 5, 4  # exit codes of pytest


@dataclass(frozen=True)
class Fault:
    """A line of the grader, indentation aside, and what stands in its place."""

    id: str
    area: str
    path: str
    line: int
    was: str
    becomes: str

    def where(self, lines: Sequence[str]) -> int | None:
        """The index of its line among those of the file, which may have moved; None where it stands no longer."""
        found = [index for index, line in enumerate(lines) if line.strip() == self.was]
        return min(found, key=lambda index: abs(index + 1 - self.line), default=None)

    def plant(self, tree: Path) -> None:
        lines = (tree / self.path).read_text("utf-8").splitlines(keepends=True)
        index = self.where(lines)
        if index is None:
            raise SystemExit(f"{self.id} does not apply any more: {self.path} has no line {self.was!r}")
        lines[index] = lines[index].replace(self.was, self.becomes)
        (tree / self.path).write_text("".join(lines), "utf-8")


def all_faults() -> list[Fault]:
    return [Fault(**entry) for entry in tomllib.loads(FAULTS.read_text("utf-8"))["fault"]]


def draw(seed: int) -> None:
    text = f"# Drawn by `python benchmarks/faults.py draw --seed {seed}`; lines may have moved since.\n"
    for area, folders in AREAS.items():
        paths = sorted(path for folder in folders for path in (ROOT / "grader" / folder).rglob("*.py"))
        places = [
            (path, part, other)
            for path in paths
            for part, other in changes(ast.parse(path.read_text("utf-8")))
            if part.lineno == part.end_lineno
        ]
        random.Random(f"{seed} {area}").shuffle(places)
        for number, (path, part, other) in enumerate(places[:EACH], 1):
            was = path.read_text("utf-8").splitlines()[part.lineno - 1]
            head, tail = was.encode()[: part.col_offset], was.encode()[part.end_col_offset :]
            becomes = head.decode() + other + tail.decode()
            name = path.relative_to(ROOT).as_posix()
            fault = Fault(f"{area}-{number}", area, name, part.lineno, was.strip(), becomes.strip())
            text += "\n[[fault]]\n"
            for key, value in asdict(fault).items():
                text += f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
    FAULTS.write_text(text, "utf-8")


@contextmanager
def copied(fault: Fault | None = None) -> Iterator[Path]:
    """A copy of the tree, with a fault in it."""
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder:
        for name in files():
            target = Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
        if fault is not None:
            fault.plant(Path(folder))
        yield Path(folder)


def pytest(tree: Path, seconds: float, *arguments: str) -> tuple[int | None, list[str]]:
    """Run tests until one fails: pytest's exit code, None after the time, and what failed, or was not collected."""
    others = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    others = [entry for entry in others if Path(entry).resolve() != ROOT]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree), *others])}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:benchmark", "-x", "-q"]
    command += ["--color=no", *arguments]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        process = subprocess.Popen(
            command, cwd=tree, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            start_new_session=True,
        )  # fmt: skip
        try:
            code: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said.seek(0)
        failed = re.findall(r"^(?:FAILED|ERROR) (tests/\S+?\.py(?:::.+?)?)(?: - .*)?$", said.read(), re.M)
    failed = [re.sub(r"@[^\]@]+$", "", test) for test in failed]  # the group, which pytest-xdist appends
    return code, list(dict.fromkeys(failed))


@dataclass
class Trial:
    """How faults are tried, and what is known of the tests."""

    unfaulted: Path
    select: str
    workers: int
    seconds: float
    broken: dict[str, bool] = field(default_factory=dict)
    """Whether a test that failed somewhere fails without a fault as well."""

    def sees(self, test: str, tree: Path, *options: str) -> bool:
        """Whether a test fails on a tree, when run by itself, and does not fail on the unfaulted one."""
        if test not in self.broken:
            self.broken[test] = self.fails(test, self.unfaulted, *options)
        return not self.broken[test] and self.fails(test, tree, *options)

    def fails(self, test: str, tree: Path, *options: str) -> bool:
        """A test that a tree does not have, as what a test is called may come from what is tested, does not fail."""
        code, _ = pytest(tree, self.seconds, test, *options)
        return code not in (0, NO_TESTS) and not (code == NOT_FOUND and "::" in test)

    def first_seen(self, fault: Fault, tree: Path) -> tuple[bool | None, str]:
        """Whether tests see a fault that was planted in a tree, and the one that did first; None after the time."""
        modules, left = tested(fault.path), self.seconds
        ends = [0, CHUNKS[0], sum(CHUNKS), len(modules)]
        fickle: set[str] = set()
        for chunk in (modules[begin:end] for begin, end in pairwise(ends)):
            options = ["-m", self.select]
            if chunk == modules[ends[2] :] and self.workers > 1:
                options += ["-n", str(self.workers), "--dist", "loadgroup"]
            while True:
                out = fickle | {test for test, broken in self.broken.copy().items() if broken}
                targets = [module for module in chunk if module not in out]
                if not targets:
                    break
                started = time.monotonic()
                code, failed = pytest(tree, left, *targets, *options, *(f"--deselect={test}" for test in out))
                left -= time.monotonic() - started
                if code in (0, NO_TESTS):
                    break
                for test in failed or (targets if code is not None else []):  # pytest itself may have ended
                    collected = ["--collect-only"] if failed and "::" not in test else []
                    if self.sees(test, tree, *collected):
                        return True, test
                    fickle.add(test)
                if code is None or left <= 0:
                    return None, ""
        return False, ""

    def outcome(self, fault: Fault) -> dict[str, Any]:
        started = time.monotonic()
        with copied(fault) as tree:
            seen, by = self.first_seen(fault, tree)
        return {"id": fault.id, "seen": seen, "by": by, "seconds": round(time.monotonic() - started, 1)}


def run(only: Sequence[str], jobs: int, workers: int, seconds: float, select: str, results: Path) -> None:
    done = {} if only else outcomes(results)
    faults = [fault for fault in all_faults() if fault.id not in done and (not only or fault.id in only)]
    if unknown := {*only} - {fault.id for fault in faults}:
        raise SystemExit(f"no such faults: {', '.join(unknown)}")
    asked = ["git", "describe", "--always", "--abbrev=40", "--match=", "--dirty"]
    commit = subprocess.run(asked, cwd=ROOT, check=False, capture_output=True, text=True).stdout.strip()
    results.parent.mkdir(parents=True, exist_ok=True)
    with copied() as unfaulted, ThreadPoolExecutor(jobs) as pool:
        _, uncollected = pytest(unfaulted, seconds, "--collect-only", "--maxfail=0", "tests")
        trial = Trial(unfaulted, select, workers, seconds, dict.fromkeys(uncollected, True))
        importers()  # before the threads ask for it
        for waiting in as_completed([pool.submit(trial.outcome, fault) for fault in faults]):
            outcome = waiting.result()
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(outcome | {"commit": commit}) + "\n")
            print(outcome["id"], said_of(outcome), f"{outcome['seconds']} s", flush=True)
    for test in sorted(test for test, broken in trial.broken.items() if broken):
        print("fails without a fault:", test)


def outcomes(results: Path) -> dict[str, dict[str, Any]]:
    """The last outcome of each fault in a file of results, which may not be there yet."""
    lines = results.read_text("utf-8").splitlines() if results.exists() else []
    return {outcome["id"]: outcome for outcome in map(json.loads, lines)}


def said_of(outcome: dict[str, Any] | None) -> str:
    if outcome is None:
        return "not tried"
    return outcome["by"] or ("time out" if outcome["seen"] is None else "not seen")


def compare(before: Path, after: Path) -> int:
    """Print a line a fault: the exit code is 1 where one was seen before and is not any more."""
    earlier, later = outcomes(before), outcomes(after)
    lost = []
    for fault in all_faults():
        sides = [side.get(fault.id) for side in (earlier, later)]
        by = [Path(said_of(side).split("::")[0]).stem.removeprefix("test_") for side in sides]
        place = f"{fault.path.removeprefix('grader/')}:{fault.line}"
        place = place if len(place) <= 20 else "…" + place[-19:]
        cells = [fault.id, place, _difference(fault), *by]
        widths = (11, 20, 23, 11, 11)
        print(" ".join(f"{cell[:width]:{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip())
        if sides[0] and sides[0]["seen"] and not (sides[1] and sides[1]["seen"]):
            lost.append(fault.id)
    print(f"seen before and not after: {', '.join(lost) or 'none'}")
    return 1 if lost else 0


def _difference(fault: Fault) -> str:
    """What changes in a line, without what stays at both its ends."""
    was, becomes = (
        re.findall(r"\w+|\s+|[<>=!]+|.", text.replace("'", '"')) for text in (fault.was, fault.becomes)
    )
    matched = difflib.SequenceMatcher(None, was, becomes, autojunk=False).get_opcodes()
    changed = [span for kind, *span in matched if kind != "equal"]
    (begin, _, other_begin, _), (_, end, _, other_end) = changed[0], changed[-1]
    texts = ["".join(was[begin:end]).strip(), "".join(becomes[other_begin:other_end]).strip()]
    return " -> ".join(text if len(text) <= 10 else text[:9] + "…" for text in texts)


def main() -> int:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("--seed", type=int, default=29)
    running = commands.add_parser("run")
    running.add_argument("--only", nargs="+", metavar="ID", default=[])
    running.add_argument("--jobs", type=int, default=1)
    running.add_argument("--workers", type=int, default=1)
    running.add_argument("--seconds", type=float, default=600)
    running.add_argument("--select", default="not soak")
    running.add_argument("--results", type=Path, default=ROOT / "build" / "faults.jsonl")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = vars(parser.parse_args())
    command = options.pop("command")
    if command == "compare":
        return compare(**options)
    draw(**options) if command == "draw" else run(**options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
