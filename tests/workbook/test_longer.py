"""What an array in shared memory is made longer to, where an index goes beyond its end."""

from __future__ import annotations

import pytest

from grader.workbook.slips import longer

SIDE = "constexpr int T = 32;\n"
HALO = "constexpr int B = 256;\nconstexpr int H = 8;\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (f"{SIDE}__shared__ float s[T * T];\nint p = T + 1;\ns[y * p + x] = v;", "s[T * (T + 1)]"),
        (f"{SIDE}__shared__ float s[1024];\ns[y * p + x] = v;", "s[T * (T + 1)]"),
        (f"{SIDE}constexpr int S = T * T;\n__shared__ float s[S];\ns[y * p + x] = v;", "s[T * (T + 1)]"),
        (f"{SIDE}__shared__ float s[T];\ns[y * T + x] = v;", "s[T * T]"),
        (f"{SIDE}__shared__ float s[T][T / 2];\ns[y][x] = v;", "s[T][T]"),
        (f"{SIDE}__shared__ float s[16][T + 1];\ns[y][x] = v;", "s[T][T + 1]"),
        (f"{SIDE}__shared__ float s[T];\ns[stage * T + x] = v;", "s[2 * T]"),
        (f"{HALO}__shared__ float s[256];\ns[t + H] = v;", "s[B + 2 * H]"),
        (f"{HALO}__shared__ float s[256 + 1];\ns[t + H] = v;", "s[256 + 2 * H]"),
        ("constexpr int R = 2;\n__shared__ float s[8][16];\ns[y + R][x + R] = v;", "s[8 + 2 * R][16 + 2 * R]"),
        ("constexpr int B = 256;\n__shared__ float s[4];\ns[threadIdx.x / 32] = v;", "s[B / 32]"),
        ('// shared = "4 * T * T"\nconstexpr int T = 32;\nextern __shared__ float s[];', '"4 * T * (T + 1)"'),
        ('// shared = "4 * (T + R)"\nconstexpr int T = 32;\nconstexpr int R = 8;\nextern __shared__ float s[];',
         '"4 * (T + 2 * R)"'),
        ('// shared = "T + 2 * R"\nconstexpr int T = 32;\nconstexpr int R = 8;\nextern __shared__ float s[];',
         '"4 * (T + 2 * R)"'),
        ('// shared = "2 * T"\nconstexpr int T = 32;\nextern __shared__ float s[];', '"4 * 2 * T"'),
    ],
)  # fmt: skip
def test_an_array_gets_more_elements_of_the_constants_that_there_are(text: str, written: str) -> None:
    assert written in "\n".join(edit.applied(text) for edit in longer.edits(text, "s"))


def test_the_fewest_elements_come_first_and_none_is_shorter() -> None:
    text = f"{SIDE}__shared__ float s[T * T];\ns[y * T + x + 7] = v;"
    made = [edit.applied(text).split("s[")[1].partition("]")[0] for edit in longer.edits(text, "s")]
    values = [eval(each, {"T": 32}) for each in made if "/" not in each]
    assert values[0] > 1024
    assert values == sorted(values)


def test_a_launch_block_that_counts_elements_is_given_their_bytes_alone() -> None:
    text = (
        '// shared = "T + 2 * R"\nconstexpr int T = 32;\nconstexpr int R = 8;\nextern __shared__ double s[];'
    )
    (edit,) = longer.edits(text, "s")
    assert 'shared = "8 * (T + 2 * R)"' in edit.applied(text)
    assert edit.why == "`shared` counts bytes, and not elements."


@pytest.mark.parametrize(
    "text",
    [
        "s[y] = v;",
        "__shared__ float s[N * M];\ns[y] = v;",
        "__shared__ float s[8];\n}\n__global__ void k()\n__shared__ float s[16];",
        '// shared = "4 * N"\nextern __shared__ float s[];',
        "extern __shared__ float s[];",
    ],
)
def test_an_array_stays_whose_length_is_not_to_be_seen(text: str) -> None:
    assert not [*longer.edits(text, "s")]


def test_a_long_text_takes_no_time() -> None:
    text = "".join(f"constexpr int C{number} = {number + 2};\n" for number in range(500))
    assert (
        len([*longer.edits(f"{text}__shared__ float s[8][8];\n" + "s[y + 1][x + 1] = 3 * 4;\n" * 500, "s")])
        <= 64
    )
