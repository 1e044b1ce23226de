"""A history as JSON: exported to keep it or take it to another machine, imported by merging."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from grader.errors import WarpladderError
from grader.history.outcomes import Outcome, Sitting
from grader.history.store import Store

Schema = Literal["warpladder/progress/1"]
SCHEMA: Schema = "warpladder/progress/1"


@dataclass(frozen=True)
class History:
    """Everything in a learner's file."""

    schema: Schema
    sittings: list[Sitting]
    outcomes: list[Outcome]


def exported(store: Store) -> bytes:
    """Everything as indented UTF-8 JSON."""
    history = History(SCHEMA, store.sittings(), store.outcomes())
    return msgspec.json.format(msgspec.json.encode(history), indent=1) + b"\n"


def import_from(path: Path, store: Store) -> int:
    """Merge an exported history into a store, all or nothing; returns how many outcomes are new.

    Raises WarpladderError where the file cannot be read, is no export, or holds something impossible.
    """
    remedy = "import what `ladder progress --export FILE` wrote"
    try:
        history = msgspec.json.decode(path.read_bytes(), type=History)
    except OSError as error:
        raise WarpladderError(f"it cannot be read: {error.strerror}", file=path) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WarpladderError(f"this is no history: {error}", file=path, remedy=remedy) from None
    return store.merge(history.sittings, history.outcomes)
