"""Modelled times of a ladder's own rungs, with what they are made of, kept beside compiled code: a grade compares with
them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from grader.analysis.devices import DeviceSpec
from grader.analysis.what_if import Modelled
from grader.areas import JUDGE
from grader.emulator.cache import cache_folder, write_atomically
from grader.judge.provenance import made_with
from grader.workbook.ladder import File, Rung
from grader.workbook.topic import Topic


def kept_times(
    topic: Topic,
    rungs: Sequence[Rung[File]],
    device: DeviceSpec,
    arch: str,
    model: Callable[[Rung[File]], Modelled],
) -> dict[str, Modelled]:
    """The times of rungs at the main sizes on a device: those that are kept, else modelled, and kept from then on.

    What is kept holds for one source of the rung, one state of its topic, and what a result is made with. A rung
    without a modelled time is left out.
    """
    found = {}
    for rung in rungs:
        path = cache_folder() / f"{state(topic, rung.source, arch, repr(device))}.time"
        time = _read(path)
        if time is None:
            time = model(rung)
            write_atomically(path, msgspec.json.encode(time))
        if time.seconds is not None:
            found[rung.id] = time
    return found


def state(topic: Topic, source: str, arch: str, *more: str) -> str:
    """A name for all that decides what is counted or modelled of a source: it, its topic, compiler and workbook."""
    texts = [path.read_text(encoding="utf-8") for path in topic.deciding_files]
    parts = [made_with(JUDGE), arch, *more, source, *texts]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _read(path: Path) -> Modelled | None:
    """What was kept; None for nothing, and for a file that is not whole."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Modelled)
    except (OSError, msgspec.MsgspecError):
        return None
    return None if found.seconds is None else found
