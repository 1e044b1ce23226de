"""Free text against key points: fair to paraphrases, not to lists of keywords."""

import re

import pytest

from grader.interview.key_points import Point, compile_term, find, score


def point(*groups: list[str], weight: int = 50) -> Point:
    return Point(weight, "…", tuple(tuple(compile_term(term) for term in group) for group in groups), 1)


CONFLICT = point(["bank conflict", "same bank", "serialis"])
PADDING = point(["pad", "33"], ["bank"])


@pytest.mark.parametrize(
    "text",
    [
        "The threads of the warp all hit the same bank.",
        "Accesses to a column are serialised by the hardware.",
        "There is a **bank conflict** on each of the reads.",
        "There's a bank-conflict in each read of the tile.",
        "Columns are serialised, e.g. in the transpose.",
        "because it makes a BANK\nCONFLICT of 32 ways",
    ],
)
def test_paraphrases_are_found(text: str) -> None:
    assert find(text, [CONFLICT]) == ["explained"]


@pytest.mark.parametrize("text", ["", "no idea", "The embankment conflicts with the view of the river."])
def test_what_was_not_said_is_not_found(text: str) -> None:
    assert find(text, [CONFLICT]) == ["missing"]


def test_one_of_each_group_has_to_be_said() -> None:
    assert find("I would pad each row of the tile by one word.", [PADDING]) == ["missing"]
    assert find("I would pad each row, so that the column is in different banks.", [PADDING]) == ["explained"]
    assert find("I would pad each row of it. Then the banks are all different.", [PADDING]) == ["explained"]


SIDES = Point(
    50,
    "Left of the ridge memory limits.",
    ((compile_term("memory.bound"),),),
    1,
    (compile_term("left [^.;,]{0,40}compute"), compile_term("(is|are) not [^.;,]{0,10}memory")),
)


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("Left of it the kernel is memory-bound, right of it it is compute-bound.", "explained"),
        ("Left of it the kernel is compute-bound, right of it it is memory-bound.", "missing"),
        ("It is not memory-bound at all, wherever it stands.", "missing"),
        ("Left of it is compute, is it not? No, there it is memory-bound.", "explained"),
        ("Memory-bound on one side. And left of it the kernel is compute-bound.", "explained"),
    ],
)
def test_a_reversal_takes_the_point_back_in_its_own_sentence(text: str, how: str) -> None:
    assert find(text, [SIDES]) == [how]


def test_what_was_taken_back_does_not_complete_a_point_from_elsewhere() -> None:
    both = Point(50, "…", PADDING.terms, 1, (compile_term("not"),))
    assert find("I would pad each row of it. But it is not about banks at all.", [both]) == ["missing"]


def test_a_list_of_keywords_earns_half() -> None:
    points = [CONFLICT, PADDING]
    found = find("bank conflict, padding, 33, swizzle, occupancy, latency, coalescing, tile", points)
    assert found == ["named", "named"]
    assert score(found, points) == 0.5


def test_one_sentence_does_not_explain_everything() -> None:
    points = [point([word], weight=10) for word in ("one", "two", "three", "four", "five", "six")]
    found = find("It is limited by the one, the two, three, four, five, six.", points)
    assert found.count("explained") == 3  # twelve words
    assert found.count("named") == 3


def test_a_point_takes_the_sentence_that_others_do_not_need() -> None:
    rare, common = point(["alpha"]), point(["beta"])
    text = "So alpha is a beta. And then the beta is there."
    assert find(text, [common, rare]) == ["explained", "explained"]


def test_signs_of_the_keyboard_meet_those_of_print() -> None:
    term = point(["32 ?× ?32"])
    assert find("The tile is of 32 x 32 floats in shared memory.", [term]) == ["explained"]
    assert find("The tile is of 32×32 floats in shared memory.", [term]) == ["explained"]


def test_terms_are_found_where_words_begin() -> None:
    assert compile_term("ring").search("a string") is None
    assert compile_term("syncthreads").search("a __syncthreads()") is not None
    assert compile_term("instruction-level").search("at the instruction level") is not None
    assert compile_term("[a-c]d").search("a dash-d") is None
    with pytest.raises(re.error):
        compile_term("(")
