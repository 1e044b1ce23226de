"""The probes of questions and coding interviews as a candidate sees them, to be answered without a look at the answers.

PYTHONPATH=tests/helpers python tests/interview/blind_sheet.py print [NAME …]   what nobody has answered yet
PYTHONPATH=tests/helpers python tests/interview/blind_sheet.py keep < ANSWERS   adds answers: STEP | strong | terse | …
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

import blind
import persons


def sheet(name: str, entry: persons.Entry) -> str:
    """The probes of an entry that have to be answered."""
    asked = blind.asked_of(entry)
    return "\n\n".join(f"## {name} / {step}\n{asked[step]}" for step in blind.stale(name, entry))


def keep(lines: Iterable[str], everything: Mapping[str, persons.Entry]) -> None:
    """Write the answers of lines such as `occupancy / occupancy.0.probe | 50 | 50 | 25 | 100 | a` into the corpus."""
    given: dict[str, dict[str, list[str]]] = {}
    for line in filter(str.strip, lines):
        place, *typed = (cell.strip() for cell in line.split("|"))
        name, step = (part.strip() for part in place.split("/"))
        if len(typed) != len(blind.PERSONS) or name not in everything:
            raise SystemExit(f"no answers of {', '.join(blind.PERSONS)}: {line!r}")
        given.setdefault(name, {})[step] = typed
    for name, added in given.items():
        _write(name, everything[name], added)


def _write(name: str, entry: persons.Entry, added: Mapping[str, list[str]]) -> None:
    known, rows = blind.answers(name), []
    for step, text in blind.asked_of(entry).items():
        digest = blind.digest(text)
        if step in added:
            cells = dict(zip(blind.PERSONS, added[step], strict=True))
        elif known.get(step, {}).get("asked") == digest:
            cells = {person: known[step][person] for person in blind.PERSONS}
        else:
            continue
        typed = ", ".join(f"{key} = '{cell}'" for key, cell in {"asked": digest, **cells}.items())
        rows.append(f'"{step}" = {{ {typed} }}')
    (blind.ANSWERS / f"{name}.toml").write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    every = persons.entries()
    if sys.argv[1] == "keep":
        keep(sys.stdin, every)
    else:
        print("\n\n".join(filter(None, (sheet(name, every[name]) for name in sys.argv[2:] or every))))
