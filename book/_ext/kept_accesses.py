"""What a block of each rung accesses, for the pictures in lessons: book/accesses/<topic>.json keeps it, because all
rungs are compiled and run in minutes and the book is to be there in one.

    python book/_ext/kept_accesses.py [TOPIC ...]

writes it anew. A rung that has changed since, or is not kept, is run on the emulator while the book is built.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from grader.judge import accesses
from grader.results import Accesses
from grader.web import files
from grader.workbook import topics
from grader.workbook.ladder import Rung
from grader.workbook.topic import KernelTopic

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "book" / "accesses"


@dataclass(frozen=True)
class Kept:
    """What was seen of a rung."""

    of: str  # as `digest` says
    seen: Accesses


def of_rungs(topic: KernelTopic) -> list[Accesses]:
    """What each rung of a topic accesses, as kept, or else as the emulator sees it now."""
    seen = {rung: kept.seen for rung, kept in read(topic).items()}
    others = [rung for rung in topic.rungs if rung.id not in seen]
    seen |= dict(zip([rung.id for rung in others], _run(topic, others), strict=True))
    return [seen[rung] for rung in topic.ladder.ids]


def read(topic: KernelTopic) -> dict[str, Kept]:
    """What is kept of a topic's rungs as they are now."""
    file = _file(topic)
    found = msgspec.json.decode(file.read_bytes(), type=dict[str, Kept]) if file.is_file() else {}
    now = {rung.id: digest(topic, rung) for rung in topic.rungs}
    return {rung: kept for rung, kept in found.items() if now.get(rung) == kept.of}


def write(topic: KernelTopic) -> None:
    """Runs a topic's rungs and keeps what they access, a line a rung."""
    lines = [
        f'"{rung.id}": {msgspec.json.encode(Kept(digest(topic, rung), seen)).decode()}'
        for rung, seen in zip(topic.rungs, _run(topic, topic.rungs), strict=True)
    ]
    FOLDER.mkdir(exist_ok=True)
    files.write(_file(topic), "{\n" + ",\n".join(lines) + "\n}\n")


def digest(topic: KernelTopic, rung: Rung) -> str:
    """Of the rung's file, and of the sizes from which those of its picture are chosen."""
    return hashlib.sha256(f"{topic.sizes_count}\n{rung.source}".encode()).hexdigest()


def _run(topic: KernelTopic, rungs: Iterable[Rung]) -> list[Accesses]:
    """The emulator is started where there are any. A file is named as it lies in the clone."""
    parsed = [rung.file for rung in rungs]
    found = accesses.of_files(topic, parsed) if parsed else ()
    return [replace(seen, file=str(Path(seen.file).relative_to(ROOT))) for seen in found]


def _file(topic: KernelTopic) -> Path:
    return FOLDER / f"{topic.name}.json"


if __name__ == "__main__":
    for name in sys.argv[1:] or topics.discover(ROOT):
        topic = topics.load(name, ROOT)
        if isinstance(topic, KernelTopic):
            write(topic)
            print(_file(topic).relative_to(ROOT), flush=True)
