"""Interviews are fair: persons of different strength, with answers written without a look at the points' terms.

`pytest -s` prints the table; `persons_table.py` does without pytest.
"""

from statistics import mean

import blind
import persons
import persons_table
import pytest

# One group: the interviews are held once, for all of these tests.
pytestmark = [
    pytest.mark.soak(area="interview"),
    pytest.mark.xdist_group("persons"),
    pytest.mark.timeout(900),
]

ENTRIES = persons.entries()
ANSWERED = [name for name in ENTRIES if persons.corpus(name)]
GUESSERS = ("random", "first", "longest")
CURRENT = 0.9
"""At least this share of the entries is answered in the second corpus as it reads today."""
IN_CHINESE = 15
"""At least so many talks are answered in Chinese as well."""


@pytest.fixture(scope="module")
def rows() -> list[persons_table.Row]:
    found = [persons_table.interviewed(name, ENTRIES[name]) for name in ANSWERED]
    print(f"\n{persons_table.table(found)}")
    return found


@pytest.fixture(scope="module")
def means(rows: list[persons_table.Row]) -> dict[str, float]:
    return persons_table.means(rows)


@pytest.mark.parametrize("name", ENTRIES)
def test_every_entry_has_been_answered(name: str) -> None:
    said = persons.corpus(name)
    assert said, f"nobody has answered {name}: write {persons.ANSWERS / name}.toml"
    assert set(said) == set(persons.talks(ENTRIES[name]))
    for talk, kinds in said.items():
        assert set(persons.SPOKEN) <= set(kinds) <= {*persons.SPOKEN, "chinese"}, talk
        assert all(kinds[kind].strip() for kind in kinds), talk


def test_every_file_answers_an_entry() -> None:
    assert {path.stem for path in persons.ANSWERS.glob("*.toml")} <= set(ENTRIES)


@pytest.mark.parametrize(("person", "least"), [("strong", 90), ("terse", 85)])
def test_who_knows_does_well(means: dict[str, float], person: str, least: float) -> None:
    assert means[person] >= least


@pytest.mark.parametrize(("person", "most"), [("wrong", 15), ("salad", 10), ("silence", 0)])
def test_who_does_not_know_earns_little(means: dict[str, float], person: str, most: float) -> None:
    assert means[person] <= most


@pytest.mark.parametrize("person", GUESSERS)
def test_guessing_is_worth_nothing_though_all_is_said(means: dict[str, float], person: str) -> None:
    assert means[person] <= 10


def test_a_wrong_answer_never_outscores_a_mediocre_one(rows: list[persons_table.Row]) -> None:
    assert [row.name for row in rows if row.scores["wrong"] >= row.scores["mediocre"]] == []


def test_right_answers_in_chinese_score_as_english_ones(rows: list[persons_table.Row]) -> None:
    """Over the talks that there are in Chinese."""
    talks = sum("chinese" in said for name in ANSWERED for said in persons.corpus(name).values())
    assert talks >= IN_CHINESE
    chinese = [row.scores["chinese"] for row in rows if row.english is not None]
    english = [row.english for row in rows if row.english is not None]
    assert sum(chinese) / len(chinese) == pytest.approx(sum(english) / len(english), abs=5)


@pytest.fixture(scope="module")
def answered_blind() -> list[str]:
    """The entries whose probes all read as they did when somebody answered them without the key."""
    return [name for name in ANSWERED if not blind.stale(name, ENTRIES[name])]


def test_the_second_corpus_is_of_today(answered_blind: list[str]) -> None:
    """Else see tests/interview/blind_sheet.py."""
    assert len(answered_blind) >= CURRENT * len(ENTRIES)


@pytest.mark.parametrize("person", blind.PERSONS)
def test_answers_without_the_key_score_the_same(
    rows: list[persons_table.Row], answered_blind: list[str], person: str
) -> None:
    first = [row.scores[person] for row in rows if row.name in answered_blind]
    second = [persons_table.blindly(name, ENTRIES[name], person) for name in answered_blind]
    print(f"\n{person}: {mean(first):.1f}, without the key {mean(second):.1f}")
    assert mean(second) == pytest.approx(mean(first), abs=5)
