"""Mutants of all rungs, graded: whether the judge sees a small mistake, wherever it is made.

    python benchmarks/mutants.py [TOPIC ...] [--each 4] [--sample 100] [--again survived] [--jobs 16] [--minutes 8]
                                 [--results build/mutants.jsonl]

An operator of `mutation/` changes one place: a barrier, guard or fence left out, off by one, an index swapped, a wrong
stride or mask, a smaller type, a term left out or doubled, and so on; in launch blocks and in schedules as well. Every
operator is tried on every rung where it applies, in up to EACH places, which a fixed seed draws. What becomes of a
mutant is

    killed        it does not pass
    demoted       it passes, and earns less than the rung that it was
    survived      it passes as if nothing were wrong; mutation/survivors.toml says why the known ones do
    equivalent    its PTX is that of the rung, line numbers aside, or mutation/equivalent.toml says why it is right
    no program    it does not compile
    no grade      the judge fails on it, which is a fault of the judge

The kill rate counts killed and demoted among all but the equivalent and what is no program. Results are appended to a
file as they come, and a second call goes on where the first ended: with --minutes, a machine can be given back in
between. With --again, those alone are graded, anew, that met a fate, such as all survivors after the judge has learnt
something. A sample takes one of each operator in each topic before it takes a second one.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import random
import re
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from corpus import spread_over_processes
from mutation import launch_blocks, schedules
from mutation.operators import OPERATORS, Edit, is_no_mutant
from mutation.tokens import Source
from rich.console import Console

from grader.errors import WarpladderError
from grader.judge.grade import grade
from grader.workbook import compiler, topics
from grader.workbook.kernel_file import KernelFile, parse_source
from grader.workbook.topic import Topic

_T = TypeVar("_T")

SEED = 20_261_122
EACH = 4
EQUIVALENT = Path(__file__).parent / "mutation" / "equivalent.toml"
SURVIVORS = EQUIVALENT.with_name("survivors.toml")
SEEN, UNSEEN = ("killed", "demoted"), ("survived", "no grade")
NEEDS_HALF = "#include <cuda_fp16.h>\n"
COMMENTS = ("", "// .\n")
"""What a rung is compiled with at its end: NVRTC orders instructions by addresses, which a text's length shifts."""

console = Console(highlight=False, markup=False, soft_wrap=True)


@dataclass(frozen=True)
class Mutant:
    """A rung with one change in it."""

    topic: str
    rung: str
    operator: str
    text: str

    @property
    def key(self) -> str:
        """The same for the same change of the same rung."""
        return hashlib.sha256(f"{self.topic}/{self.rung}\n{self.text}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: a line of the results."""

    key: str
    topic: str
    rung: str
    operator: str
    fate: str
    why: str  # the verdict's reason, or why it is equivalent
    diff: str


def all_mutants(names: Iterable[str], each: int) -> Iterator[Mutant]:
    """Up to `each` mutants of every operator on every rung of these topics, but for what changes no program."""
    for name in names:
        for rung in topics.load(name).rungs:
            text = rung.path.read_text("utf-8")
            source = Source(text)
            places: dict[str, list[Edit]] = defaultdict(list)
            for operator, edit in edits_of(text, rung.path.suffix):
                if edit.applied(text) != text:
                    places[operator].append(edit)
            for operator, edits in places.items():
                draw = random.Random(f"{SEED} {name} {rung.id} {operator}")
                for edit in draw.sample(edits, min(each, len(edits))):
                    if rung.path.suffix == ".py" or not is_no_mutant(source, edit):
                        yield Mutant(name, rung.id, operator, _with_half(edit.applied(text), edit))


def edits_of(text: str, suffix: str) -> Iterator[tuple[str, Edit]]:
    """What every operator changes in the text of a rung, and the operator."""
    if suffix == ".py":
        yield from schedules.edits(text)
        return
    source = Source(text)
    for name, operator in OPERATORS.items():
        for edit in operator(source):
            yield name, edit
    yield from launch_blocks.edits(text)


def _with_half(text: str, edit: Edit) -> str:
    """A type that was narrowed to half needs its header, which goes behind the launch block."""
    if edit.text != "half" or "<cuda_fp16.h>" in text:
        return text
    head, mark, rest = text.partition("// ///\n")
    return f"{head}{mark}{NEEDS_HALF}{rest}"


def fate_of(mutant: Mutant) -> Fate:
    """Compile a mutant, compare it with its rung, and grade it where they differ."""
    topic = topics.load(mutant.topic)
    rung = topic.rung(mutant.rung).path
    original = rung.read_text("utf-8")
    changes = difflib.unified_diff(original.splitlines(), mutant.text.splitlines(), lineterm="", n=0)
    fate = Fate(mutant.key, mutant.topic, mutant.rung, mutant.operator, "", "", "\n".join([*changes][2:]))
    invariant = _reason(EQUIVALENT, fate)
    if invariant:
        return replace(fate, fate="equivalent", why=invariant)
    if rung.suffix == ".cu":
        try:
            if _program(topic, mutant.text, rung) in _original_programs(mutant.topic, mutant.rung):
                return replace(fate, fate="equivalent", why="identical PTX")
        except WarpladderError as error:
            return replace(fate, fate="no program", why=str(error)[:200])
    return _graded(fate, topic, mutant, rung)


def _graded(fate: Fate, topic: Topic, mutant: Mutant, rung: Path) -> Fate:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / rung.name
        file.write_text(mutant.text, "utf-8")
        try:
            result = grade(topic, file, "emulator")
        except WarpladderError as error:
            return replace(fate, fate="no grade", why=str(error))
    if result.verdict != "pass":
        return replace(fate, fate="killed", why=(result.reason or "")[:200])
    full = sum(claim.points for claim in topic.ladder.claims_up_to(mutant.rung))
    if result.points < full:
        return replace(
            fate, fate="demoted", why=f"reaches {result.rung_reached}, {result.points} of {full} points"
        )
    return replace(fate, fate="survived", why=_reason(SURVIVORS, fate))


def _program(topic: Topic, text: str, path: Path) -> tuple[object, ...]:
    """What decides what a kernel file does: PTX without line numbers, and its launches. Raises WarpladderError."""
    file = parse_source(text, topic.signature, path)
    assert isinstance(file, KernelFile)
    build = compiler.compile_source(file.source, file=path, kernels=file.kernels)
    ptx = re.sub(r"^\s*(//|\.loc|\.file|\.section|\.b8).*$|\$L__\w+", "", build.ptx, flags=re.MULTILINE)
    constants = compiler.constants(file.source, file.constant_names, file=path)
    launches = [repr(replace(launch, line=0, lines={})) for launch in file.launches]
    scratch = [repr(replace(item, line=0)) for item in file.scratch]
    return ptx, tuple(sorted(constants.items())), tuple(launches), tuple(scratch)


@cache
def _original_programs(topic: str, rung: str) -> tuple[tuple[object, ...], ...]:
    loaded = topics.load(topic)
    path = loaded.rung(rung).path
    text = path.read_text("utf-8")
    return tuple(_program(loaded, text + comment, path) for comment in COMMENTS)


@cache
def entries(file: Path) -> list[dict[str, Any]]:
    """What one of the two lists has."""
    found: list[dict[str, Any]] = tomllib.loads(file.read_text("utf-8")).get("mutant", [])
    return found


def numbers_of(entry: dict[str, Any], rung: str) -> list[int]:
    """The lines of a rung, from 1, that an entry of the two lists means; none if the rung has changed."""
    text = topics.load(entry["topic"]).rung(rung).path.read_text("utf-8")
    found = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == entry["was"]]
    return found[entry["nth"] - 1 : entry["nth"]] if "nth" in entry else found


def _reason(file: Path, fate: Fate) -> str:
    """What one of the two lists says of a mutant, "" if it is not there."""
    changes = [line for line in fate.diff.splitlines() if line[:1] in "+-"]
    was, becomes = ("\n".join(line[1:].strip() for line in changes if line[0] == sign) for sign in ("-", "+"))
    for entry in entries(file):
        if fate.topic != entry["topic"] or fate.rung not in entry["rungs"]:
            continue
        if was != entry["was"] or becomes not in entry["becomes"]:
            continue
        if any(f"@@ -{number} " in fate.diff for number in numbers_of(entry, fate.rung)):
            return str(entry["why"])
    return ""


def run(
    mutants: Sequence[Mutant],
    jobs: int,
    results: Path | None = None,
    again: str | None = None,
    minutes: float | None = None,
) -> list[Fate]:
    """The fates of mutants, as far as they are known: from `results`, and of those graded now, which are the ones that
    it does not know, or those with a fate to be met `again`. After so many minutes no other is begun."""
    known = {} if results is None or not results.exists() else _read(results)
    fates = {key: fate.fate for key, fate in known.items()}
    missing = [item for item in mutants if fates.get(item.key) == again]
    end = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    with spread_over_processes(jobs) as pool:
        futures = [pool.submit(fate_of, item) for item in missing]
        for number, future in enumerate(as_completed(futures), 1):
            if future.cancelled():
                continue
            if time.monotonic() > end:
                for other in futures:
                    other.cancel()
            fate = future.result()
            known[fate.key] = fate
            if results is not None:
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(fate)) + "\n")
            if number % 100 == 0:
                console.print(f"{number} of {len(missing)}")
    return [known[mutant.key] for mutant in mutants if mutant.key in known]


def _read(results: Path) -> dict[str, Fate]:
    lines = results.read_text("utf-8").splitlines()
    return {fate.key: fate for fate in (Fate(**json.loads(line)) for line in lines)}


def rate(fates: Iterable[Fate]) -> float:
    """The part of those that are not equivalent that the judge sees."""
    counts = Counter(fate.fate for fate in fates)
    counted = sum(counts[name] for name in SEEN + UNSEEN)
    return sum(counts[name] for name in SEEN) / counted if counted else 1.0


def _table(title: str, groups: dict[str, list[Fate]]) -> None:
    names = (*SEEN, *UNSEEN, "equivalent", "no program")
    console.print(f"\n{title:22}" + "".join(f"{name:>12}" for name in names) + f"{'seen':>10}")
    for group, fates in sorted(groups.items()):
        counts = Counter(fate.fate for fate in fates)
        cells = "".join(f"{counts[name]:12}" for name in names)
        console.print(f"{group:22}{cells}{100 * rate(fates):9.1f} %")


def report(fates: Sequence[Fate]) -> None:
    """The kill rate by topic and operator, and each that is not seen, with its change."""
    for title, attribute in (("topic", "topic"), ("operator", "operator")):
        groups: dict[str, list[Fate]] = defaultdict(list)
        for fate in fates:
            groups[getattr(fate, attribute)].append(fate)
        _table(title, groups)
    _table("", {"all": list(fates)})
    for fate in fates:
        if fate.fate in UNSEEN:
            console.print(f"\n{fate.topic}/{fate.rung}: {fate.operator}, {fate.fate} {fate.why}\n{fate.diff}")


def main(
    topic: Annotated[list[str] | None, typer.Argument(help="All, if none is given.")] = None,
    each: Annotated[int, typer.Option(help="Places of an operator in a rung.")] = EACH,
    sample: Annotated[int | None, typer.Option(help="So many of them alone, by the same seed.")] = None,
    again: Annotated[str | None, typer.Option(help="Grade those alone, anew, that met this fate.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 2,
    minutes: Annotated[float | None, typer.Option(help="Begin no other after that.")] = None,
    results: Annotated[Path, typer.Option(help="Where results are kept.")] = Path("build/mutants.jsonl"),
) -> None:
    """Grade mutants, and report what became of them."""
    mutants = chosen(topic or list(topics.discover()), each, sample)
    results.parent.mkdir(parents=True, exist_ok=True)
    fates = run(mutants, jobs, results, again, minutes)
    report(fates)
    if len(fates) < len(mutants):
        console.print(f"\n{len(mutants) - len(fates)} of {len(mutants)} are not graded yet.")
    if rate(fates) < 0.99:
        raise typer.Exit(1)


def chosen(names: Sequence[str], each: int, sample: int | None) -> list[Mutant]:
    """All mutants of these topics, each once, or a sample of them that is spread over topics and operators.

    Which of a topic come first is drawn for itself: a new rung elsewhere does not change it.
    """
    mutants = list({mutant.key: mutant for mutant in all_mutants(names, each)}.values())
    if sample is None:
        return mutants
    draws = {name: random.Random(f"{SEED} {name}") for name in names}
    places: dict[tuple[str, str], list[Mutant]] = defaultdict(list)
    for mutant in sorted(mutants, key=lambda mutant: (mutant.topic, draws[mutant.topic].random())):
        places[mutant.topic, mutant.operator].append(mutant)
    operators: dict[str, list[list[Mutant]]] = defaultdict(list)
    for (topic, _), found in places.items():
        operators[topic].append(found)
    return _in_turns(_in_turns(operators.values()))[:sample]


def _in_turns(lists: Iterable[Sequence[_T]]) -> list[_T]:
    """The first of each list, then the second of each, and so on."""
    return [item for turn in zip_longest(*lists) for item in turn if item is not None]


if __name__ == "__main__":
    typer.run(main)
