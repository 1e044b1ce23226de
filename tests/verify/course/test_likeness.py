"""Sources compared: what the copy column of `ladder course mark` sees, and `ladder course similar`."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from grader.course import batch, sources
from grader.course.batch import Submission
from grader.course.likeness import pairs, tokens
from grader.workbook import topics

pytestmark = pytest.mark.verify

TOPICS = topics.discover()
TRANSPOSE = TOPICS["transpose"]
NAIVE = TRANSPOSE.rung("00_naive").source
PADDED = TRANSPOSE.rung("03_padded_tile").source


def renamed(source: str, **names: str) -> str:
    """A source with other names."""
    for old, new in names.items():
        source = re.sub(rf"\b{old}\b", new, source)
    return source


# ---- the same source again ---------------------------------------------------------------------------------


def test_names_comments_and_spaces_do_not_make_another_source() -> None:
    again = renamed(NAIVE, M="rows", N="columns", row="i", out="answer")
    again = "// mine, all mine\n" + again.replace("    ", "\t").replace("{", "{ /* here */")
    assert again != NAIVE
    found = tokens.fingerprint(TRANSPOSE, again)
    assert found == tokens.fingerprint(TRANSPOSE, NAIVE)
    assert dict(tokens.of_ladder(TRANSPOSE))[found] == "the ladder's 00_naive"


@pytest.mark.parametrize(
    "again",
    [
        NAIVE.replace("threadIdx.x", "thread\\\nIdx.x"),
        f"// \\\nint more;\n{NAIVE}",
        sources.of_cell("%%kernel mine\n" + NAIVE.replace("\n", "\r")),
        sources.of_cell(f"\ufeff%%kernel mine\n\ufeff{NAIVE}"),
    ],
    ids=["a word over two lines", "a comment over two lines", "CR", "a byte-order mark"],
)
def test_what_the_compiler_reads_alike_is_alike(again: str) -> None:
    assert tokens.fingerprint(TRANSPOSE, again) == tokens.fingerprint(TRANSPOSE, NAIVE)


def test_a_line_that_goes_on_counts_as_two() -> None:
    assert [token.line for token in tokens.of_source(".cu", "a \\\n\\\nb\nc")] == [1, 3, 4]


def test_two_empty_cells_accuse_nobody() -> None:
    found = batch.alike(
        [Submission(name, TRANSPOSE, text) for name, text in (("ada", "\n"), ("bob", "// mine\n"))]
    )
    assert set(found.values()) == {"no code: an empty cell, or comments alone"}


@pytest.mark.parametrize(
    ("old", "new"),
    [("threadIdx.x", "threadIdx.y"), ("= 32", "= 16"), ("float", "double"), ("in[", "out["), ("<", "<=")],
)
def test_another_program_is_another_source(old: str, new: str) -> None:
    other = new.join(PADDED.rsplit(old, 1))
    assert other != PADDED
    assert tokens.fingerprint(TRANSPOSE, other) != tokens.fingerprint(TRANSPOSE, PADDED)


def test_two_names_that_are_exchanged_in_one_place_are_another_source() -> None:
    assert tokens.fingerprint(TRANSPOSE, "a = b; a = c") != tokens.fingerprint(TRANSPOSE, "a = b; b = c")
    assert tokens.fingerprint(TRANSPOSE, "a = b; a = c") == tokens.fingerprint(TRANSPOSE, "u = v; u = w")


@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS)
def test_no_two_rungs_are_the_same_source(topic: topics.Topic) -> None:
    named = list(tokens.of_ladder(topic))
    assert len(dict(named)) == len(named)


@pytest.mark.parametrize("suffix", [".cu", ".py"])
@pytest.mark.parametrize(
    "text",
    ["#/*" * 200_000, "#" + " " * 500_000, '"' * 500_000, '"""' * 200_000, "'" + '\\"' * 200_000, "a" * 500_000,
     "." * 500_000, "-> " * 200_000, "1e+" * 200_000, "\\\n" * 200_000, "\ud800" * 1000],
    ids=lambda text: repr(text[:6]),
)  # fmt: skip
def test_long_texts_are_read_at_once(suffix: str, text: str) -> None:
    begun = time.monotonic()
    topic = TRANSPOSE if suffix == ".cu" else TOPICS["streams"]
    tokens.fingerprint(topic, text)
    assert time.monotonic() - begun < 10.0


# ---- pairs that resemble each other ------------------------------------------------------------------------

SUBMISSIONS = Path(__file__).parents[2] / "submissions" / "transpose" / "right"
OWN = (SUBMISSIONS / "square_of_four_in_a_local_array.cu").read_text(encoding="utf-8")
OTHER = (SUBMISSIONS / "warp_and_volatile_shared.cu").read_text(encoding="utf-8")


def disguised(source: str) -> str:
    """A source with other names, comments and numbers, and its functions in another order."""
    code = re.sub(r"//[^\n]*", "", source)
    words = sorted({item.text for item in tokens.of_source(".cu", code) if item.kind == "name"})
    code = renamed(code, **{word: f"my_{number}" for number, word in enumerate(words)})
    return "// all my own work\n" + code.replace("32", "16")


def handed_in(**sources: str) -> list[Submission]:
    return [Submission(student, TRANSPOSE, source) for student, source in sources.items()]


def compared(whole: list[Submission]) -> list[pairs.Pair]:
    return pairs.pairs(TRANSPOSE, whole, 0.4)


def test_a_copy_is_found_though_it_is_disguised() -> None:
    (found,) = compared(handed_in(ada=OWN, bob=OTHER, cleo=disguised(OWN)))
    assert (found.left.students, found.right.students, found.share) == (("ada",), ("cleo",), 1.0)


TWO = """
__device__ float one(const float* a, int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i] * a[n - i]; return s; }
"""
THREE = """
__device__ int f(int x, int y) { while (x != y) { if (x > y) x -= y; else y -= x; } do x ^= y; while (x); return y; }
"""


def test_functions_in_another_order_resemble_each_other() -> None:
    (found,) = compared(handed_in(ada=TWO + THREE, bob=renamed(THREE + TWO, x="u", one="two")))
    assert found.share > 0.9
    assert all(line.common for line in found.left.lines if line.text)


def test_common_lines_are_marked_and_others_are_not() -> None:
    (found,) = compared(handed_in(ada=f"int a;\n{THREE}", bob=f"{THREE}\nfloat* b[3];"))
    assert [line.number for line in found.left.lines if line.common] == [3]
    assert [line.number for line in found.right.lines if line.common] == [2]
    assert [line.text for line in found.right.lines] == ["", THREE.strip(), "", "float* b[3];"]


@pytest.mark.parametrize("rung", [None, *TRANSPOSE.ladder.ids])
def test_what_everybody_was_given_is_nobodys(rung: str | None) -> None:
    given = TRANSPOSE.starter.read_text() if rung is None else TRANSPOSE.rung(rung).source
    assert compared(handed_in(ada=given, bob=given, cleo=disguised(given))) == []
    (found,) = compared(handed_in(ada=given + THREE, bob=given + THREE, cleo=given))
    common = [line.text for line in found.left.lines if line.common]
    assert THREE.strip() in common
    assert len(common) < len([line for line in found.left.lines if line.text]) or rung is None


def test_those_with_one_source_are_one_side() -> None:
    found = compared(handed_in(ada=OWN, bob=disguised(OWN), cleo=OWN + THREE, dan=OWN))
    assert [(pair.left.students, pair.right.students) for pair in found] == [
        (("ada",), ("bob", "dan")),
        (("ada", "bob", "dan"), ("cleo",)),
    ]


def test_little_in_common_is_no_pair() -> None:
    assert compared(handed_in(ada=OWN, bob=OTHER)) == []
    assert compared(handed_in(ada="", bob="", cleo="int a;", dan="int a;")) == []


def test_a_class_is_compared_well_under_a_minute() -> None:
    """300 sources, no two the same, of which every other one is somebody's with a line of its own."""
    files = sorted(SUBMISSIONS.glob("*.cu"))
    texts = [file.read_text(encoding="utf-8") for file in files]
    whole = handed_in(
        **{f"s{n}": f"{disguised(texts[n % len(texts)])}\n{'int a;' * n}\n" for n in range(300)}
    )
    begun = time.monotonic()
    found = compared(whole)
    assert time.monotonic() - begun < 30
    assert len(found) == pairs.MOST
