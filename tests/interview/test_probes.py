"""Probes: what is drawn and computed, how answers to each kind are read, and what cannot be computed."""

import random
import re
from pathlib import Path
from typing import Any

import pytest

from grader.errors import WarpladderError
from grader.interview import bank, rounds
from grader.interview.probes import kinds, posing
from grader.interview.probes.kinds import NumberProbe, Probe
from grader.interview.probes.posing import Posed, compute, pose
from grader.interview.session import Probed
from grader.workbook import topics
from grader.workbook.strict_toml import read

MULTIPLIED = {
    "kind": "number", "text": "Of {a} and {b}?", "unit": "bytes", "tolerance": 0, "explain": "{a} · {b} = {answer}",
    "draw": {"a": [1024, 2048], "b": [2, 3]},
}  # fmt: skip
TRUE, FALSE = "Water is wet.", ["Fire is cold.", "Ice is hot.", "Sand is wet.", "Snow is black."]


def probe(folder: Path, body: str = "", **keys: object) -> Probe:
    """A probe of these keys, computed by `body`, a function of everything that is drawn."""
    (folder / "it.py").write_text(
        f"def it(**drawn):\n    a, b = drawn.get('a'), drawn.get('b')\n    {body or 'pass'}\n"
    )
    lines = ['name = "it"', *(f"{key} = {_toml(value)}" for key, value in keys.items() if key != "draw")]
    lines += ["[draw]", *(f"{key} = {_toml(value)}" for key, value in keys.get("draw", {}).items())]  # type: ignore[attr-defined]
    return kinds.read_probe(read(lines, folder / "it.toml"))


def _toml(value: Any) -> str:
    return repr(value) if not isinstance(value, str) else f"'''{value}'''"


def multiplied(folder: Path, body: str, **changes: object) -> Probe:
    """A number from two that are drawn."""
    return probe(folder, body, **{**MULTIPLIED, **changes})


def worked(given: Probe, **parameters: Any) -> Posed:
    return compute(given, parameters, random.Random(0))


def test_texts_show_parameters_answer_and_further_values(tmp_path: Path) -> None:
    given = multiplied(tmp_path, 'return {"answer": a * b, "half": a / 3}', explain="{answer} and {half:.1f}")
    posed = worked(given, a=1024, b=2)
    assert posed.text == "Of 1,024 and 2?"
    assert posed.explain == "2,048 and 341.3"
    assert posed.value == 2048
    assert posed.right(posed.read("2^11"))
    assert not posed.right(posed.read("2049"))


def test_texts_show_large_numbers_without_an_exponent(tmp_path: Path) -> None:
    given = multiplied(tmp_path, "return a / b", explain="{answer:.2g}, {answer:,.4g}, {answer}; {a:.1f}")
    assert worked(given, a=1434.25, b=1).explain == "1,434, 1,434, 1,434; 1434.2"
    assert worked(given, a=98765.4, b=1).explain == "98,765, 98,765, 98,765; 98765.4"
    assert worked(given, a=0.000012345, b=1).explain.startswith("1.2e-05")


def test_texts_decline_numbers_and_boards(tmp_path: Path) -> None:
    draw = {"a": ["Tesla T4", "NVIDIA A100"], "b": [1, 3]}
    texts = {"text": "{b:multiply-adds} on {a:a}?", "explain": "{answer:loads}"}
    given = multiplied(tmp_path, "return b", draw=draw, **texts)
    first, second = worked(given, a="Tesla T4", b=1), worked(given, a="NVIDIA A100", b=3)
    assert (first.text, first.explain) == ("1 multiply-add on a Tesla T4?", "1 load")
    assert (second.text, second.explain) == ("3 multiply-adds on an NVIDIA A100?", "3 loads")


def test_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    given = multiplied(tmp_path, "return a * b")
    assert pose(given, "3") == pose(given, "3")
    assert (
        len({pose(given, str(seed)).text for seed in range(40)}) == len(list(posing.every_draw(given))) == 4
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return a / 0", "ZeroDivisionError"),
        ("return float('nan')", "not a finite number"),
        ("return 'four'", "not a finite number"),
        ("return {'result': 4}", "no value 'answer'"),
        ("return a, b", "not a finite number"),
    ],
)
def test_what_cannot_be_computed_names_the_parameters(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(WarpladderError, match=said) as refused:
        worked(multiplied(tmp_path, body), a=1024, b=2)
    assert "a = 1024, b = 2" in refused.value.message


def test_a_choice_shows_one_right_statement_among_three_wrong_ones(tmp_path: Path) -> None:
    given = probe(tmp_path, kind="choice", text="Which holds?", right=[TRUE], wrong=FALSE, explain="{answer}")
    posed = [pose(given, str(seed)) for seed in range(40)]
    assert all(TRUE in item.options and len(item.options) == 4 for item in posed)
    assert {item.answer for item in posed} == set("abcd")
    assert all(item.options["abcd".index(item.answer)] == TRUE == item.explain for item in posed)
    assert posed[0].chance == 0.25
    assert posed[0].right(posed[0].read(f" {posed[0].answer.upper()}) "))


def test_an_option_may_be_typed_out(tmp_path: Path) -> None:
    right = "`Pascal` and later."
    wrong = ["Kepler.", "Paxwell.", "Kepler and later."]
    given = probe(tmp_path, kind="choice", text="Which?", right=[right], wrong=wrong, explain="{answer}")
    posed = pose(given, "1")
    for typed in ("Pascal and later", "pascal", posed.answer.upper()):
        assert posed.right(posed.read(typed))
    assert posed.options["abcd".index(str(posed.read("kepler")))] == "Kepler."
    with pytest.raises(ValueError, match="the options are a, b, c, d"):
        posed.read("Pa")


def test_an_answer_is_told_in_a_sentence() -> None:
    def told(
        given: str, right: bool, options: list[str], code: list[str], unit: str = "", answer: str = "b"
    ) -> str:
        return posing.answered(Probed("s", "i", "?", options, code, unit, given, answer, right, 0.5, "", 1.0))

    grows = ["It shrinks.", "It grows."]
    assert told("", False, grows, []) == "no answer; right is b: It grows."
    assert told("a", False, grows, []) == "a: It shrinks; right is b: It grows."
    assert told("it grows", True, grows, []) == "b is right: It grows."
    assert told("cab", False, ["x", "y", "z"], [], answer="abc") == "cab: z → x → y; right is abc: x → y → z"
    assert told("2", True, [], ["a;", "b;"], answer="2") == "line 2 is right: b;"
    assert told("", False, [], [], "threads", "20,940") == "no answer; right is 20,940 threads"
    assert told("4 threads", True, [], [], "threads", "4") == "4 threads is right"


def test_a_question_mark_says_what_the_prompt_asks_for(tmp_path: Path) -> None:
    given = multiplied(tmp_path, "return a * b", unit="KiB", tolerance=0.02)
    assert pose(given, "1").clarified.startswith("One number, in KiB, right within 2 %; a sum such as 64/16")
    assert "powers of 1,024" in pose(given, "1").clarified
    choice = probe(
        tmp_path, kind="choice", text="Which holds?", right=[TRUE], wrong=FALSE, explain="{answer}"
    )
    assert pose(choice, "1").clarified.startswith("One letter, or the text of its option")


def test_a_choice_may_be_computed(tmp_path: Path) -> None:
    options = {
        "kind": "choice",
        "text": "Which of {a}?",
        "options": ["small", "large"],
        "draw": {"a": [1, 9]},
    }
    given = probe(tmp_path, "return 'small' if a < 5 else 'large'", explain="It is {answer}.", **options)
    assert [worked(given, a=a).explain for a in (1, 9)] == ["It is small.", "It is large."]
    wrong = probe(tmp_path / "..", "return 'huge'", explain="It.", **options)
    with pytest.raises(WarpladderError, match="'huge' is none of"):
        worked(wrong, a=1)


def test_items_are_put_in_order_by_their_letters(tmp_path: Path) -> None:
    given = probe(tmp_path, kind="order", text="In order?", items=["one", "two", "three"], explain="{answer}")
    posed = pose(given, "1")
    assert [posed.options["abc".index(letter)] for letter in posed.answer] == ["one", "two", "three"]
    assert posed.options != ("one", "two", "three")
    assert posed.right(posed.read(", ".join(posed.answer)))
    assert not posed.right(posed.read(posed.answer[::-1]))
    assert posed.chance == 1 / 6


def test_a_line_is_named_by_its_number_and_its_mark_is_not_shown(tmp_path: Path) -> None:
    given = probe(
        tmp_path, kind="line", text="Which?", code="a = 1;\n\nb = 2;  //!\nc = 3;  //!\n", explain="{answer}"
    )
    posed = pose(given, "1")
    assert posed.code == ("a = 1;", "", "b = 2;", "c = 3;")
    assert [posed.right(posed.read(line)) for line in ("3", "line 4", "1")] == [True, True, False]
    assert posed.chance == 2 / 3


@pytest.mark.parametrize("typed", ["", "e", "ab", "none", "1"])
def test_what_is_no_letter_is_asked_again(tmp_path: Path, typed: str) -> None:
    posed = pose(probe(tmp_path, kind="choice", text="?", right=[TRUE], wrong=FALSE, explain="So."), "1")
    with pytest.raises(ValueError, match="the options are a, b, c, d"):
        posed.read(typed)


@pytest.mark.parametrize("typed", ["0", "3", "b", "1.5"])
def test_what_is_no_line_is_asked_again(tmp_path: Path, typed: str) -> None:
    posed = pose(probe(tmp_path, kind="line", text="?", code="a\nb //!\n", explain="So."), "1")
    with pytest.raises(ValueError, match="numbered from 1 to 2"):
        posed.read(typed)


# ---- the repository's own ------------------------------------------------------------------------------------

SLIPS = re.compile(
    r"\ban (?:Tesla|[1-79])|\ba (?:NVIDIA|8[ ,])|\(s\)"
    r"|(?<![.,×·/^−-] )(?<![\d.,])\b1 (?!(?:lies|is|times|ms|ns)\b)[a-z]+[a-z-]*(?<!s)s\b"
)
NUMBERED = re.compile(
    r"\b(?:batch of|chunk|core|expert|instruction|lane|number|parity|part|rank|row|single|stream|stride|template|thread"
    r"|version|warpgroup) $",
    re.IGNORECASE,
)
"""Before a 1 that counts nothing: thread 1 reads."""


def slips(text: str) -> list[str]:
    """Wrong articles, and plurals after a 1."""
    prose = re.sub(r"`[^`]*`", "code", text)
    return [match[0] for match in SLIPS.finditer(prose) if not NUMBERED.search(prose[: match.start()])]


def every_probe() -> dict[str, Probe]:
    """All of the bank and of the coding rounds, by entry and name."""
    entries: list[bank.Entry] = [*bank.discover().values(), *rounds.discover(topics.discover()).values()]
    return {f"{entry.name}/{probe.name}": probe for entry in entries for probe in entry.probes}


@pytest.mark.soak(area="interview")
def test_questions_and_explanations_are_grammatical_however_they_are_drawn() -> None:
    rng = random.Random(1)
    for name, given in every_probe().items():
        every = list(posing.every_draw(given))
        for posed in (compute(given, drawn, rng) for drawn in rng.sample(every, min(60, len(every)))):
            found = [slip for text in (posed.text, posed.explain, *posed.options) for slip in slips(text)]
            assert not found, f"{name}: {found} in {posed.text} / {posed.explain}"


@pytest.mark.parametrize(
    ("name", "parameters", "typed", "is_right"),
    [
        ("half_value", {"bits": "0x7BFF"}, "65504", True),
        ("half_value", {"bits": "0x7BFF"}, "65536", False),
        ("half_value", {"bits": "0x0001"}, "5.96e-8", True),
        ("half_value", {"bits": "0xB555"}, "-1/3", True),
        ("spacing", {"value": 0.00001}, "6.0 · 10⁻⁸", True),
        ("largest", {"exponent": 5, "fraction": 10}, "65504", True),
        ("largest", {"exponent": 5, "fraction": 10}, "65536", False),
        ("largest", {"exponent": 8, "fraction": 7}, "3.390e38", True),
    ],
)
def test_what_halves_hold_is_told_from_its_neighbour(
    name: str, parameters: dict[str, int | float | str], typed: str, is_right: bool
) -> None:
    given = next(item for item in bank.load("fp16").probes if item.name == name)
    assert isinstance(given, NumberProbe)
    posed = compute(given, parameters, random.Random(0))
    assert posed.right(posed.read(typed)) is is_right


def test_the_right_statement_is_not_told_by_its_length() -> None:
    """Who always takes the longest is right about as often as who takes any."""
    longest, asked = 0, 0
    for given in every_probe().values():
        if isinstance(given, kinds.ChoiceProbe) and not given.computed:
            for seed in range(8):
                posed = pose(given, str(seed))
                longest += len(posed.options["abcd".index(posed.answer)]) == max(map(len, posed.options))
                asked += 1
    assert asked > 0
    assert longest / asked < 0.34
