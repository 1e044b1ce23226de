"""A history as JSON: exported to keep it or take it to another machine, imported by merging."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from grader.errors import WarpladderError
from grader.history.outcomes import Graded, Outcome, Sitting
from grader.history.store import Store

Schema = Literal["warpladder/progress/3"]
SCHEMA: Schema = "warpladder/progress/3"
FIRST, SECOND = "warpladder/progress/1", "warpladder/progress/2"
"""In files of the first `said` stands in the place of `rated`, as in schema.MIGRATIONS before the third; the second has
no grades."""


@dataclass(frozen=True)
class History:
    """Everything in a learner's file."""

    schema: Schema
    sittings: list[Sitting]
    outcomes: list[Outcome]
    grades: list[Graded]


def exported(store: Store) -> bytes:
    """Everything as indented UTF-8 JSON, but for the folders that kernels are in: they are of this machine."""
    grades = [replace(each, file=Path(each.file).name) for each in store.grades()]
    history = History(SCHEMA, store.sittings(), store.outcomes(), grades)
    return msgspec.json.format(msgspec.json.encode(history), indent=1) + b"\n"


def import_from(path: Path, store: Store) -> int:
    """Merge an exported history into a store, all or nothing; returns how many outcomes and grades are new.

    Raises WarpladderError where the file cannot be read, is no export, or holds something impossible.
    """
    remedy = "import what `ladder progress --export FILE` wrote"
    try:
        found = msgspec.json.decode(path.read_bytes())
        history = msgspec.convert(_migrated(found), History)
    except OSError as error:
        raise WarpladderError(f"it cannot be read: {error.strerror}", file=path) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WarpladderError(f"this is no history: {error}", file=path, remedy=remedy) from None
    return store.merge(history.sittings, history.outcomes, history.grades)


def _migrated(found: object) -> object:
    """An export of an earlier version as one of this; any other as it is."""
    if not isinstance(found, dict) or found.get("schema") not in (FIRST, SECOND):
        return found
    if found["schema"] == SECOND:
        return {**found, "schema": SCHEMA, "grades": []}
    first = msgspec.convert(found, _First)
    for record in first.outcomes:
        share = record.get("share")
        halved = record.get("said") == 0  # its words were not found
        if halved and isinstance(share, int | float):
            record["share"] = 2 * share
    for record in (*first.sittings, *first.outcomes):
        record.pop("said", None)
        record["rated"] = None
    return {"schema": SCHEMA, "sittings": first.sittings, "outcomes": first.outcomes, "grades": []}


@dataclass(frozen=True)
class _First:
    """Everything in an export of the first version."""

    sittings: list[dict[str, object]]
    outcomes: list[dict[str, object]]
