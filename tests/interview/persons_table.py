"""What each kind of candidate earns in each question and coding interview, and which points were not heard.

PYTHONPATH=tests/helpers python tests/interview/persons_table.py [NAME …]
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import mean

import blind
import persons

SEEDS = 4
TALKERS = ("strong", "terse", "chinese")
HEARD = 0.85
"""Below this share of a strong answer's weight heard, the table names the points."""


@dataclass
class Row:
    """An entry: the mean score of each person over seeds and talks, in percent."""

    name: str
    scores: dict[str, float] = field(default_factory=dict)
    english: float | None = None  # of the strong person, in the talks that there are in Chinese
    heard: dict[str, float] = field(default_factory=dict)  # share of the weight, from 0 to 1
    missed: dict[str, list[str]] = field(default_factory=dict)  # "talk: text of the point"


def interviewed(name: str, entry: persons.Entry, seeds: int = SEEDS) -> Row:
    """Have everybody interviewed who has something to say."""
    found, said = Row(name), persons.corpus(name)
    chinese = {
        step
        for step, talk in zip(persons.steps(entry), persons.talks(entry), strict=True)
        if "chinese" in said[talk]
    }
    for person in persons.PERSONS:
        talks = chinese if person == "chinese" else set(persons.steps(entry))
        if not talks:
            continue
        played = [persons.play(name, entry, person, seed) for seed in range(seeds)]
        scores = [persons.scores(entry, kept) for kept in played]
        found.scores[person] = _mean(scores, talks)
        if person == "strong" and chinese:
            found.english = _mean(scores, chinese)
        if person in TALKERS:
            points = [(step, point) for step, point in persons.heard(entry, played[0]) if step in talks]
            whole = sum(point.weight for _, point in points)
            found.heard[person] = sum(point.weight for _, point in points if point.heard) / whole
            found.missed[person] = [f"{step}: {point.text}" for step, point in points if not point.heard]
    return found


def blindly(name: str, entry: persons.Entry, person: str) -> float:
    """The score of a person whose probes were answered by somebody without the key, in percent."""
    return _mean([persons.scores(entry, blind.play(name, entry, person))], set(persons.steps(entry)))


def table(rows: list[Row]) -> str:
    """In columns, with the means below, and the points that were not heard."""
    names = list(persons.PERSONS)
    lines = [" ".join([f"{'':32}", *(f"{name:>8}" for name in names), "  heard"])]
    for item in rows:
        lines.append(" ".join([f"{item.name:32}", *_cells(item.scores), f"{item.heard['strong']:7.0%}"]))
    lines.append(" ".join([f"{'mean':32}", *_cells(means(rows))]))
    for item in rows:
        for person in TALKERS:
            if item.heard.get(person, 1) < HEARD:
                lines.append(
                    f"\n{item.name}: of the {person} answer {item.heard[person]:.0%} are heard, and not"
                )
                lines += [f"  {text}" for text in item.missed[person]]
    return "\n".join(lines)


def means(rows: list[Row]) -> dict[str, float]:
    """Each person's mean over the entries."""
    return {
        person: mean(item.scores[person] for item in rows if person in item.scores)
        for person in persons.PERSONS
        if any(person in item.scores for item in rows)
    }


def _cells(scores: Mapping[str, float]) -> list[str]:
    return [f"{scores[name]:8.0f}" if name in scores else f"{'':8}" for name in persons.PERSONS]


def _mean(scores: list[dict[str, float]], talks: set[str]) -> float:
    return mean(mean(found[step] for step in talks) for found in scores)


if __name__ == "__main__":
    everything = persons.entries()
    wanted = sys.argv[1:] or [name for name in everything if persons.corpus(name)]
    print(table([interviewed(name, everything[name]) for name in wanted]))
    print("\nwithout answers:", ", ".join(name for name in everything if not persons.corpus(name)) or "none")
