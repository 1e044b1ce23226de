"""Interviews are fair: persons whose answers to the probes were written without a look at the right ones, and guessers.

`pytest -s` prints what each earned.
"""

from statistics import mean

import blind
import persons
import pytest

# One group: the interviews are held once, for all of these tests.
pytestmark = [
    pytest.mark.soak(area="interview"),
    pytest.mark.xdist_group("persons"),
    pytest.mark.timeout(900),
]

ENTRIES = persons.entries()
SEEDS = 4
CURRENT = 0.9
"""At least this share of the entries is answered as it reads today."""


@pytest.fixture(scope="module")
def answered() -> list[str]:
    """The entries whose probes all read as they did when somebody answered them without the key."""
    return [name for name in ENTRIES if not blind.stale(name, ENTRIES[name])]


@pytest.fixture(scope="module")
def scores(answered: list[str]) -> dict[str, dict[str, float]]:
    """By person, then by entry, in percent."""
    found = {
        person: {
            name: persons.score(ENTRIES[name], blind.play(name, ENTRIES[name], person)) for name in answered
        }
        for person in blind.PERSONS
    }
    print({person: round(mean(of.values()), 1) for person, of in found.items()})
    return found


def test_the_answers_are_of_today(answered: list[str]) -> None:
    """Else see tests/interview/blind_sheet.py."""
    assert len(answered) >= CURRENT * len(ENTRIES)


@pytest.mark.parametrize("person", ["strong", "terse"])
def test_who_knows_does_well(scores: dict[str, dict[str, float]], person: str) -> None:
    assert mean(scores[person].values()) >= 90


@pytest.mark.parametrize("person", ["wrong", "salad"])
def test_who_does_not_know_earns_nothing(scores: dict[str, dict[str, float]], person: str) -> None:
    assert mean(scores[person].values()) <= 10


def test_a_mediocre_candidate_is_between(scores: dict[str, dict[str, float]]) -> None:
    means = {person: mean(of.values()) for person, of in scores.items()}
    assert means["wrong"] + 20 <= means["mediocre"] <= means["strong"] - 20


@pytest.mark.parametrize("person", persons.GUESSERS)
def test_guessing_is_worth_nothing(person: str) -> None:
    meets = persons.GUESSERS[person]
    found = [
        persons.score(entry, persons.play(name, entry, meets, seed))
        for name, entry in ENTRIES.items()
        for seed in range(SEEDS)
    ]
    print(f"{person}: {mean(found):.1f}")
    assert mean(found) <= 5


def test_silence_is_worth_nothing() -> None:
    for name, entry in ENTRIES.items():
        assert persons.score(entry, persons.play(name, entry, persons.silent, 0)) == 0
