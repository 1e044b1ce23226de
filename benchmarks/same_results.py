"""Whether a change of the code has changed a result: what the commands say before it, held against what they say after.

    python benchmarks/same_results.py capture before.json [TOPIC ...] [--checkout DIR]
    python benchmarks/same_results.py compare before.json after.json [--renamed renamed.toml]

`capture` runs, on the emulator, `ladder climb` on every topic, and on every rung and every file of tests/submissions
`ladder profile` and `ladder grade`, this without and with --seed. It keeps exit codes, the JSON and standard error.
DIR is any checkout with a .venv, also one from before this file.

What would differ from run to run is made equal. The seed that a grade draws in secret is always SECRET_SEED here, and
the fields in VARYING are blanked. The judge's limits of time are PATIENCE times as long: a busy machine makes no
timeouts. Each command has one CPU, so that the emulator runs blocks in order: with more, of two that race now one
is first and now the other. The checkout's own path is replaced by a word.

`compare` ends with 0 if nothing but commands and fields was added, and nothing but words has changed. Words are the
texts in fields named in WORDS; those with other numbers in them are shown apart, for a reader to judge.
`renamed.toml` lists what has another name afterwards:

    [fields]
    time_s = "seconds"              # every field of this name
    "findings[*].kind" = "sort"     # a field of this name in this place

    [[text]]                        # texts, by a regular expression: with re.sub, in the order of the file
    field = "findings[*].kind"      # as above; left out: every text, and the commands that were run
    pattern = '^race$'
    replace = 'data_race'
"""

from __future__ import annotations

import difflib
import json
import os
import re
import subprocess
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import track

SEED = 7
SECRET_SEED = 20_260_101
PATIENCE = 10
VARYING = ("date", "git_commit")  # of a result's provenance
WORDS = ("reason", "message", "text", "claim", "stderr")
PROCESSES = 2

LADDER = f"""
import runpy, secrets, select
wait = select.select
secrets.randbelow = lambda below: {SECRET_SEED}
select.select = lambda read, write, failed, seconds=None: wait(read, write, failed, seconds and {PATIENCE} * seconds)
runpy.run_module("grader", run_name="__main__", alter_sys=True)
"""
"""`python -m grader`, with a secret that is known, and a judge that waits longer for its children to answer."""

app = typer.Typer(help="See the head of this file.", add_completion=False, pretty_exceptions_enable=False)
console = Console(highlight=False, markup=False, soft_wrap=True)

Json = Any
Documents = dict[str, Json]
"""What every command said, by the command."""


# ---- capture -----------------------------------------------------------------------------------------------


@app.command()
def capture(
    out: Path,
    topic: Annotated[list[str] | None, typer.Argument(help="All, if none is given.")] = None,
    checkout: Annotated[Path, typer.Option(help="Whose results; this one's, if not given.")] = Path(
        __file__
    ).parents[1],
) -> None:
    """Write down what every command says."""
    checkout = checkout.resolve()
    commands = [command for name in topic or _topics(checkout) for command in _commands(checkout, name)]
    cpus = cycle(os.sched_getaffinity(0))
    with ThreadPoolExecutor(PROCESSES, initializer=lambda: os.sched_setaffinity(0, {next(cpus)})) as pool:
        said = pool.map(lambda command: _run(checkout, command), commands)
        documents = {
            " ".join(command): document
            for command, document in zip(commands, track(said, "capture", total=len(commands)), strict=True)
        }
    out.write_text(json.dumps(documents, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")


def _topics(checkout: Path) -> list[str]:
    return sorted(file.parent.name for file in checkout.glob("lessons/*/topic.toml"))


def _commands(checkout: Path, topic: str) -> Iterator[list[str]]:
    yield ["climb", topic]
    (starter,) = checkout.glob(f"lessons/{topic}/starter.*")
    rungs = [f"kernels/naive/{topic}{starter.suffix}", f"kernels/optimized/{topic}/*{starter.suffix}"]
    for pattern in (*rungs, f"tests/submissions/{topic}/*{starter.suffix}"):
        for path in sorted(checkout.glob(pattern)):
            file = path.relative_to(checkout).as_posix()
            yield ["grade", topic, file]
            yield ["grade", topic, file, "--seed", str(SEED)]
            yield ["profile", topic, file]


def _run(checkout: Path, command: Sequence[str]) -> Json:
    """What a command said, without what would differ from run to run or from machine to machine."""
    done = subprocess.run(
        [checkout / ".venv/bin/python", "-c", LADDER, *command, "--device", "emulator", "--json", "-"],
        cwd=checkout,  # which is where Python looks for `grader`
        env={**os.environ, "COLUMNS": "120", "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    out, err = (text.replace(str(checkout), "CHECKOUT") for text in (done.stdout, done.stderr))
    try:
        result = json.loads(out)
    except json.JSONDecodeError:  # of a call that was refused there is none
        result = out
    else:
        result["provenance"].update(dict.fromkeys(VARYING, "varies"))
    return {"exit": done.returncode, "result": result, "stderr": err.splitlines()}


# ---- compare -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Renamings:
    """What has another name afterwards; see the head of this file."""

    fields: dict[str, str] = field(default_factory=dict)
    text: Sequence[dict[str, str]] = ()

    def apply_all(self, documents: Documents) -> Documents:
        """All documents as they would be afterwards, under the commands as they would be."""
        return {self.apply(command): self.apply(document) for command, document in documents.items()}

    def apply(self, value: Json, path: str = "") -> Json:
        """A part of a document as it would be called afterwards."""
        if isinstance(value, dict):
            return {self._name(name, path): self.apply(value[name], f"{path}.{name}") for name in value}
        if isinstance(value, list):
            return [self.apply(item, f"{path}[*]") for item in value]
        if isinstance(value, str):
            for rule in self.text:
                if "field" not in rule or _is_at(path, rule["field"]):
                    value = re.sub(rule["pattern"], rule["replace"], value)
        return value

    def _name(self, name: str, path: str) -> str:
        new = (new for place, new in self.fields.items() if _is_at(f"{path}.{name}", place))
        return next(new, name)


def _is_at(path: str, place: str) -> bool:
    """Whether a path such as .result.findings[*].kind ends in a place such as findings[*].kind."""
    return path.endswith(f".{place}")


Sort = Literal["missing", "changed", "added", "words", "numbers"]
TITLES: dict[Sort, str] = {
    "missing": "Missing fields",
    "changed": "Changed values",
    "added": "Added fields",
    "words": "Changed words",
    "numbers": "Changed words that have other numbers in them",
}
DIFFERENT = ("missing", "changed")
"""What may not be."""


@dataclass(frozen=True)
class Difference:
    """One place where two documents differ."""

    sort: Sort
    path: str  # such as .result.rungs[*].time_s
    before: Json = None
    after: Json = None


def differences(before: Json, after: Json, path: str = "") -> Iterator[Difference]:
    """Where two values differ; lists of different lengths as a whole."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            inner = f"{path}.{name}"
            if name not in before:
                yield Difference("added", inner, after=after[name])
            elif name not in after:
                yield Difference("missing", inner, before=before[name])
            else:
                yield from differences(before[name], after[name], inner)
    elif json.dumps(before) == json.dumps(after):
        return
    elif any(_is_at(path, name) for name in WORDS) and _is_text(before) and _is_text(after):
        yield Difference(_sort_of_words(str(before), str(after)), path, before, after)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            yield from differences(one, other, f"{path}[*]")
    else:
        yield Difference("changed", path, before, after)


def _is_text(value: Json) -> bool:
    """Whether a value is words, or lines of words; nothing at all is neither."""
    return isinstance(value, str | list) and bool(value)


def _sort_of_words(before: str, after: str) -> Sort:
    numbers = [sorted(re.findall(r"\d+", text)) for text in (before, after)]
    return "words" if numbers[0] == numbers[1] else "numbers"


@app.command()
def compare(
    before: Path,
    after: Path,
    renamed: Annotated[Path | None, typer.Option(help="TOML: what has another name afterwards.")] = None,
    most: Annotated[int, typer.Option(help="Examples that are shown for each field.")] = 5,
) -> None:
    """Say where two captures differ."""
    rules = {} if renamed is None else tomllib.loads(renamed.read_text("utf-8"))
    renamings = Renamings(**rules)
    old = renamings.apply_all(json.loads(before.read_text("utf-8")))
    new = json.loads(after.read_text("utf-8"))
    common = [command for command in old if command in new]
    found = [(command, item) for command in common for item in differences(old[command], new[command])]
    for sort, title in TITLES.items():
        _show(title, [(command, item) for command, item in found if item.sort == sort], most)
    gone = _list("Commands that are missing", old.keys() - new.keys())
    _list("Commands that were added", new.keys() - old.keys())
    console.print(f"{len(common) - len({command for command, _ in found})} of {len(common)} are equal.")
    different = {command for command, item in found if item.sort in DIFFERENT}
    if different or gone:
        console.print(f"{len(different)} differ, {gone} are missing.")
        raise typer.Exit(1)
    console.print("Nothing differs but what was added, and words.")


def _list(title: str, commands: set[str]) -> int:
    """Show commands; returns how many they are."""
    if commands:
        console.print("\n".join([title, *(f"  {command}" for command in sorted(commands))]), end="\n\n")
    return len(commands)


def _show(title: str, found: Sequence[tuple[str, Difference]], most: int) -> None:
    """Differences of one sort by the field they are in, and there each once, with a command that has it."""
    if not found:
        return
    console.print(title)
    fields: dict[str, dict[str, list[tuple[str, Difference]]]] = defaultdict(lambda: defaultdict(list))
    for command, item in found:
        place = f"{command.partition(' ')[0]} {item.path[1:]}"
        fields[place][_alike(item)].append((command, item))
    for place, kinds in sorted(fields.items()):
        console.print(f"  {place}: {sum(map(len, kinds.values()))}")
        for (command, item), *others in list(kinds.values())[:most]:
            more = f", and {len(others)} more" if others else ""
            lines = (f"      {line}" for line in _lines(item))
            console.print("\n".join([f"    {command}{more}", *lines]))
        if len(kinds) > most:
            console.print(f"    … {len(kinds) - most} others")
    console.print()


def _alike(item: Difference) -> str:
    """Equal for differences of which one need be shown: of added fields, and of words that differ in numbers."""
    text = "\n".join(_lines(item))
    return {"added": "", "words": re.sub(r"\d+", "0", text)}.get(item.sort, text)


def _lines(item: Difference) -> list[str]:
    """What was, after a minus, and what is, after a plus."""
    if item.sort in ("words", "numbers"):
        before, after = (value if isinstance(value, list) else [value] for value in (item.before, item.after))
        changes = list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]
        return [f"{line[0]} {line[1:]}" for line in changes if line[0] in "-+"]
    was = [] if item.sort == "added" else [f"- {_short(item.before)}"]
    return was if item.sort == "missing" else [*was, f"+ {_short(item.after)}"]


def _short(value: Json) -> str:
    """A value as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    items = f"{len(value)} items: " if isinstance(value, list) else ""
    return items + (text if len(text) <= 300 else f"{text[:300]} …")


if __name__ == "__main__":
    app()
