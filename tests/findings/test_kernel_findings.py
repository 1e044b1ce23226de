"""Words for what a kernel did, from data made by hand."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import get_args

import pytest
from records import at

from grader.emulator.machine import findings as found_by_the_emulator
from grader.emulator.machine.records import (
    TENSOR_COPY,
    TOOLS,
    Absence,
    Access,
    Allocation,
    Arrivals,
    Finding,
    Kind,
    Phase,
    PhaseFault,
    Text,
    Tool,
)
from grader.emulator.places import UNKNOWN
from grader.findings.bounds import GUARD
from grader.findings.kernels import message, result
from grader.findings.remedies import remedy
from grader.results import FindingResult, OtherAccess
from grader.workbook.cuda_source import declared_in_shared

BASE = 0x7000_0010_0000
KINDS: tuple[Kind, ...] = get_args(Kind)
BOOK = Path(__file__).parents[2] / "book" / "reference" / "emulator.md"

FIRST, SECOND = (0, 0, 0), (1, 0, 0)


def of_b(kind: Kind, offset: int, **changes: object) -> Finding:
    """A finding about `B`, 131 floats, whose type is known."""
    values: dict[str, object] = {
        "action": "read",
        "space": "global",
        "address": BASE + offset,
        "size": 4,
        "allocation": Allocation(BASE, 524),
        "array": "B",
        "element": offset // 4,
        "shape": (131,),
    }
    return Finding(kind, at(7), 1, FIRST, SECOND, **(values | changes))  # type: ignore[arg-type]


def of_tile(kind: Kind, **changes: object) -> Finding:
    """A finding about shared memory."""
    values: dict[str, object] = {"action": "read", "space": "shared", "address": 132, "array": "tile"}
    return Finding(kind, at(7), 1, FIRST, SECOND, **(values | changes))  # type: ignore[arg-type]


def test_every_kind_has_a_tool_words_a_remedy_and_a_place_in_the_book() -> None:
    book = BOOK.read_text("utf-8")
    assert set(TOOLS) == set(KINDS)
    assert set(TOOLS.values()) == set(get_args(Tool))
    assert set(found_by_the_emulator._KINDS.values()) <= set(KINDS)
    for kind in KINDS:
        access = Access("write")
        plain = Finding(
            kind, at(7), 1, FIRST, SECOND, action="read", space="shared", address=0, size=4, other=access
        )
        shown = result(plain, "k")
        assert (shown.kind, shown.tool) == (kind, TOOLS[kind])
        assert shown.message
        assert not shown.message.endswith(".")
        assert shown.remedy
        assert shown.remedy.endswith(".")
        assert f"`{kind}`" in book


def test_a_handle_of_no_texture_is_named() -> None:
    found = of_b("out_of_bounds", 0, address=7, size=None, no_texture=True)
    assert message(found) == "thread (1, 0, 0) fetches from a texture object 0x7, which does not exist"
    assert remedy(found).startswith("Create the object with cudaCreateTextureObject before the launch")


def test_a_texture_of_what_the_launch_stores_is_named() -> None:
    found = of_b(
        "stored_read_only", 0, other=Access("write", block=FIRST), scope="grid", instruction="tex.1d"
    )
    assert "through a texture, where" in message(found)
    assert remedy(found).startswith("Fetch it in a later launch")
    assert "through the read-only cache, where" in message(replace(found, instruction=None))


def test_an_access_out_of_bounds_names_array_and_element() -> None:
    text = message(of_b("out_of_bounds", 4 * 524))
    assert text == "thread (1, 0, 0) reads `B`[524], where `B` has 131 elements"
    assert "reads `B`[-4], where" in message(of_b("out_of_bounds", -16))
    later = replace(of_b("out_of_bounds", 524), block=(2, 0, 0))
    assert message(later).startswith("thread (1, 0, 0) of block (2, 0, 0) reads `B`[131]")
    wide = of_b("out_of_bounds", 4 * 128, size=16, action="write")
    assert "writes `B`[128 to 131], where `B` has 131 elements" in message(wide)
    matrix = of_b("out_of_bounds", 524, shape=(1, 131))
    assert "reads `B`[131], where `B` has 1 × 131 = 131 elements" in message(matrix)


LETS = "The condition in line 6 lets "


@pytest.mark.parametrize(
    ("element", "size", "text", "says"),
    [
        (
            131,
            4,
            Text("B[i]", "i", "", "if (i <= n)", bound=131),
            f"{LETS}this thread pass: .*`<`, and not `<=`\\?",
        ),
        (131, 4, Text("B[i]", "i", "", "if (i <= to)"), f"{LETS}this thread pass: .*array\\?$"),
        (
            131,
            4,
            Text("B[i]", "i", "", "if (i > n) return;", bound=131),
            f"{LETS}this thread pass: .*`>=`, and not `>`\\?",
        ),
        (
            131,
            4,
            Text("B[i]", "i", "", "if (i < m)", "i < m", 140),
            "lets `i < m` pass, up to 140, and `\\w+` has 131",
        ),
        (140, 4, Text("B[j]", "j", "", "if (j < 0)"), "keeps out indices below 0, and none behind the end"),
        (131, 4, Text("B[i]", "i", "", "if (i < m)"), f"{LETS}this thread pass: .*size of this array\\?$"),
        (
            140,
            4,
            Text("B[j]", "j", "i + 9", "if (a || i < n) {"),
            f"{LETS}this thread pass: .* look at `i \\+ 9`\\.$",
        ),
        (
            -9,
            4,
            Text("B[j]", "j", "i - 9", "if (i < n) {"),
            "line 6 looks at `i` alone: let `j >= 0` hold as well",
        ),
        (
            -9,
            4,
            Text("B[i + k]", "i + k", "", "if (i >= n) {", "i >= n"),
            "let `i \\+ k >= 0 && i \\+ k < n` hold as well, .*, at both ends\\.$",
        ),
        (
            -9,
            4,
            Text("B[i - R]", "i - R", "", "if (i >= n) {", "i >= n"),
            "let `i - R >= 0` hold as well, .* not there\\.$",
        ),
        (-9, 4, Text("B[j]", "j", "i - 9", "if (j < n) {"), f"{LETS}indices below 0 pass"),
        (
            -9,
            4,
            Text("B[k]", "k", "", "if (i + k >= 0)"),
            "line 6 compares `i \\+ k`, and the index is `k`\\.$",
        ),
        (
            131,
            4,
            Text("B[i + k]", "i + k", "", "if (i + k >= 0)"),
            "`i \\+ k` has to be less than the number",
        ),
        (
            131,
            4,
            Text("B[y]", "y", "", "if (x < n)"),
            "looks at `x` alone: let `y` be less than the number of elements of `B` as well\\.$",
        ),
        (
            -1,
            4,
            Text("B[y]", "y", "", "if (x < n)"),
            "line 6 looks at `x` alone: let `y >= 0` hold as well\\.",
        ),
        (140, 4, Text("*(B + i * sizeof(float))"), "counts elements and not bytes"),
        (140, 4, Text("B[i]", "i", "", "if (i < n * sizeof(float))"), "line 6 counts bytes"),
        (
            140,
            4,
            Text("B[i]", "i", "", "if (i < sizeof(B) / sizeof(B[0]))"),
            "of a pointer is 8 bytes.*line 6",
        ),
        (
            160,
            16,
            Text("((float4*)B)[i]", "i", "4 * t", "if (i + 3 < n)", pointee=16),
            "counts 4 elements.*`4 \\* t`.*once is",
        ),
        (
            160,
            16,
            Text("*(float4*)&B[i]", "i", "4 * t", "if (i < n)", pointee=4),
            "line 6 looks at the first element alone.* takes 4: `i \\+ 3 < n`",
        ),
        (
            130,
            16,
            Text("*(float4*)(B + i)", "i", "4 * t", "if (i >= n) return;", pointee=4),
            "`i \\+ 3 >= n`",
        ),
        *(
            (
                160,
                16,
                Text("*(float4*)&B[i]", "i", "4 * t - R", f"if ({condition})", pointee=4),
                f"`i \\+ 3 {end} n`",
            )
            for condition, end in (("i >= 0 && i < n", "<"), ("i < 0 || i >= n", ">="))
        ),
        (132, 16, Text("((float4*)B)[i]", "i", "t", "if (i < n)"), f"{LETS}this thread pass"),
        (
            132,
            16,
            Text("((float4*)B)[i]", "i", "t", "if (4 * i < n)", pointee=16),
            "`4 \\* i \\+ 3 < n`",
        ),
        (
            160,
            16,
            Text("((float4*)B)[i]", "i", "t", "if (i < n)", "i < n", 131, pointee=16),
            "line 6, `i < n`, counts elements, and the index counts packs of 4 .* `B` has n / 4: ",
        ),
        *(
            (
                128,
                16,
                Text("p[i]", "i", "t", "if (i < w)", "i < w", 33, limit, pointee=16),
                f"rounds up, with `{re.escape(limit)}`, .*: let through `n / [4V]` whole ones, and take",
            )
            for limit in ("(n + 3) / 4", "(n + V - 1) / V", "(n - 1) / 4 + 1", "cdiv(n, 4)")
        ),
        (160, 16, Text("p[i]", "i", "t", "if (i < n)", "i < n", 32, pointee=16), f"{LETS}this thread pass"),
        (
            140,
            4,
            Text("B[i] = 0;", "i", "s + t", "if (i < n)", moved="s"),
            "`B \\+= s` has moved the pointer",
        ),
        (
            131,
            4,
            Text("*p++ = 0;", goes_on=("p", "p++", 6)),
            "`p` goes on by `p\\+\\+` in line 6 .* Set it anew",
        ),
        (140, 4, Text("*p = 0;", "i * sizeof(float)", "", "if (i < n)"), "leave `sizeof` out"),
        (
            140,
            4,
            Text("B[t] = 0;", "t", "threadIdx.x", "if (t < n)", moved="blockIdx.x * 4"),
            f"{LETS}this thread",
        ),
        (
            132,
            4,
            Text("B[c + 2] = t[threadIdx.y];", "c + 2", "", "if (k < n)"),
            "looks at `k` alone: let `c \\+ 2` be",
        ),
        (
            132,
            4,
            Text("v.z += B[c + 2];", "c + 2", "", "if (k < n)"),
            "component z lies behind the end: 131 elements",
        ),
        (
            140,
            4,
            Text("B[v]", "v", "in[i] + 9", "if (i < n)"),
            "read from memory, `in\\[i\\] \\+ 9`, which no.*`B`\\[130",
        ),
    ],
)
def test_what_mends_an_index_follows_from_its_text(element: int, size: int, text: Text, says: str) -> None:
    found = remedy(
        of_b("out_of_bounds", 4 * element, size=size, guarded=6 if text.condition else None, text=text)
    )
    assert re.search(says, found), found


@pytest.mark.parametrize(
    ("condition", "by_itself"),
    [("if (r >= m || c >= n) return;", False), ("if (r > m || c >= n) return;", True), ("if (r < m)", True)],
)
def test_a_condition_on_both_indices_of_a_matrix_or_its_index_is_wrong(
    condition: str, by_itself: bool
) -> None:
    text = Text("B[i]", "i", "at(r, c)", condition)
    found = remedy(of_b("out_of_bounds", 4 * 140, size=4, guarded=6, text=text, shape=(1, 131)))
    neither = "the index, `at(r, c)`, do not agree, and a row of `B` is 131 elements long. Where the index is as you"
    assert (neither in found and "`grid`" in found) is not by_itself


def test_a_condition_that_is_missing_is_told_with_the_size() -> None:
    text = Text("B[c]", "c", "t", "if (i < size_t(M) * N)")
    beyond = of_b("out_of_bounds", 4 * 140, size=4, guarded=6, text=text, extent="N")
    assert remedy(beyond) == "The condition in line 6 looks at `i` alone: let `c < N` hold as well."
    assert "`i` alone: let the index be less than" in remedy(replace(beyond, text=replace(text, index="")))
    part = replace(beyond, text=Text("B[c]", "c", "", "if (r * N + c < M * N)"))
    assert remedy(part).endswith("compares `r * N + c`, and the index is `c`. Let `c < N` hold as well.")
    assert remedy(replace(part, element=-1)).endswith("and the index is `c`.")
    of_rows = remedy(replace(beyond, shape=(1, 131), block=(1, 0, 0)))
    assert of_rows.endswith(
        "let each number of which the index is made be less than the size that it counts along as well."
    )


def test_of_the_first_thread_of_all_the_guard_of_each_element_comes_first() -> None:
    beyond = of_b("out_of_bounds", 4 * 140, size=4, shape=(1, 131))
    first = replace(beyond, thread=(0, 0, 0), block=(0, 0, 0))
    assert remedy(first).startswith(
        "Where a thread handles several elements, guard each. Where it has one, look at"
    )
    assert remedy(first).endswith(": a row of `B` is 131 elements long.")


def test_bytes_of_an_array_are_no_elements() -> None:
    text = Text("tile[k] = 0;", "k", in_bytes=True)
    found = remedy(of_tile("out_of_bounds", element=1024, shape=(1024,), text=text))
    assert "elements are `sizeof(tile) / sizeof(tile[0])`" in found


def test_what_every_block_clears_is_cleared_before_the_launch() -> None:
    race = of_b("race", 0, action="write", scope="grid", clears=6)
    for each in (race, replace(race, action="atomic")):
        assert "Take out the clearing in line 6, and a barrier that was there for it." in remedy(each)
        assert 'In its place, zero = ["B"] in the launch block' in remedy(each)


def test_an_array_of_the_block_is_not_indexed_by_the_place_in_the_grid() -> None:
    formed = ("row = blockIdx.y * 32 + threadIdx.y = 32",)
    found = remedy(of_tile("out_of_bounds", element=1024, shape=(32, 32), formed=formed))
    assert found.startswith("`tile` is the block's own")
    assert found.endswith(f"There `{formed[0]}`.")


def test_an_array_of_the_block_that_is_too_short_is_told_by_its_declaration() -> None:
    source = "#define SIDE 32\nconstexpr int PITCH = SIDE + 1;\n__shared__ float a[2], tile[SIDE][PITCH];"
    declared = declared_in_shared(source, "tile")
    assert declared == (
        "line 3, as `tile[SIDE][PITCH]` with `#define SIDE 32` in line 1 and `PITCH = SIDE + 1` in line 2"
    )
    assert declared_in_shared(f"{source}\n__shared__ int tile[4];", "tile") == ""
    data = Text("tile[in[i]] = 0;", "in[i]", dynamic=False, declared="line 3, as `tile[250]`", threads=512)
    outside = of_tile("out_of_bounds", element=252, shape=(250,), text=data)
    assert remedy(outside) == (
        "It is declared in line 3, as `tile[250]`: this index needs 253 elements or more. Make the array longer, or "
        "mend the index."
    )
    computed = replace(data, index="3 * t + 1")
    assert remedy(replace(outside, element=1 << 20, text=computed)).endswith(
        "Mend the index: it goes far beyond the array."
    )
    by_thread = replace(outside, text=replace(data, index="t", formed="threadIdx.x"))
    assert remedy(by_thread).endswith("A block has 512 threads: is it as large as the kernel was made for?")
    by_lane = replace(
        by_thread, element=8, shape=(8,), text=replace(data, index="l", formed="threadIdx.x & 31")
    )
    assert remedy(by_lane).endswith("A warp has 32 lanes, and those from 8 on have no element there.")


def test_of_several_elements_in_a_line_each_is_guarded_by_its_own_index() -> None:
    text = Text("s[t] = B[i] + B[i + 32];", condition="if (i < N)")
    outside = of_b("out_of_bounds", 40, action="read", guarded=3, extent="N", text=text)
    assert remedy(outside).endswith("guard each by that, as `(i + 32 < N ? B[i + 32] : 0)` does.")
    alone = remedy(replace(outside, text=Text("s[t] = B[i] + B[i];")))
    assert "Several elements" not in alone


def test_what_fills_shared_memory_stores_something_else_where_there_is_no_element() -> None:
    outside = of_b("out_of_bounds", 40, action="read", text=Text("tile[t] = B[i];", "i", fills="tile"))
    assert remedy(outside).endswith("In place of it, store 0 to `tile`, or what leaves the result as it is.")
    assert remedy(replace(outside, text=Text("c[i] = B[i];", "i"))) == GUARD


def test_an_index_below_0_is_told_by_the_type_that_makes_it() -> None:
    unsigned = of_b("out_of_bounds", -32, wrapped=True, text=Text("B[j]", "j", "threadIdx.x + k"))
    assert "The index is below 0: " in remedy(unsigned)
    assert "`threadIdx.x` is unsigned" in remedy(unsigned)
    assert "unsigned" not in remedy(of_tile("out_of_bounds", element=-8, shape=(272,)))
    signed = of_tile(
        "out_of_bounds", element=-85, shape=(256,), text=Text("B[v]", "v", signed_char=("char4", "uchar4", 7))
    )
    assert remedy(signed) == (
        "A char is signed, from -128 to 127, so that 171 becomes -85: write `uchar4` in place of `char4` in line 7."
    )


@pytest.mark.parametrize(
    ("offset", "changes", "says"),
    [
        (532, {}, "reads 4 bytes of global memory 8 bytes behind the end of an allocation of 524 bytes"),
        (
            -1,
            {"size": 1},
            "reads 1 byte of global memory 1 byte before the start of an allocation of 524 bytes",
        ),
        (520, {"size": 8}, "at byte 520 of an allocation of 524 bytes, beyond its end"),
        (
            520,
            {"size": 8, "array": "weights"},
            "at byte 520 of `weights`, which has 524 bytes, beyond its end",
        ),
        (0, {"allocation": None}, f"reads 4 bytes of global memory at {BASE:#x}, where nothing is allocated"),
        (0, {"allocation": None, "instruction": "printf"}, "where nothing is allocated, in printf"),
        (0, {"space": "const", "allocation": None}, "of constant memory"),
        (0, {"space": "generic", "allocation": None}, "4 bytes of memory at"),
    ],
)
def test_an_access_to_what_has_no_type(offset: int, changes: dict[str, object], says: str) -> None:
    untyped = {"array": None, "element": None, "shape": None}
    assert says in message(of_b("out_of_bounds", offset, **(untyped | changes)))


def test_an_access_outside_of_shared_and_local_memory() -> None:
    small = of_tile("out_of_bounds", address=128, size=4, allocation=Allocation(0, 128))
    assert "reads 4 bytes of shared memory at byte 128, where the block has 128 bytes" in message(small)
    none = replace(small, allocation=Allocation(0, 0))
    assert "where the block has no bytes" in message(none)
    of_text = replace(none, text=Text("tile[i]", "i"))
    assert "`shared` in the launch block gives the bytes" in remedy(of_text)
    assert "0 where it is left out: this access needs 132, and the array" in remedy(of_text)
    more = remedy(replace(of_text, allocation=small.allocation))
    assert more.endswith("the 128 there are enough for 32 elements of 4 bytes, and this access needs 4 more.")
    local = replace(small, space="local")
    assert "of local memory at byte 128, beyond its end" in message(local)


def test_an_address_that_is_not_aligned() -> None:
    says = "reads 16 bytes at `B`[1], address 0x700000100004, which is no multiple of 16"
    assert says in message(of_b("misaligned", 4, size=16))
    assert "take single elements where rows" in remedy(of_b("misaligned", 4, size=16))
    halves = remedy(of_b("misaligned", 4, size=16, dtype="float16"))
    assert halves.endswith("take single halves where a row is not a multiple of 8 halves long.")
    assert "a multiple of 8 bfloat16 elements long" in remedy(
        of_b("misaligned", 4, size=16, dtype="bfloat16")
    )


def test_a_box_that_begins_at_an_address_that_is_not_aligned() -> None:
    box = of_b("misaligned", 4, size=16, instruction=TENSOR_COPY)
    says = "copies a box that begins at `B`[1], address 0x700000100004, which is no multiple of 16 bytes"
    assert says in message(box)
    assert remedy(box).startswith("A box begins at a multiple of 16 bytes of a row")
    assert "a multiple of 4: take single elements" in remedy(of_b("misaligned", 2))


RACE = {"size": 4, "scope": "block"}


@pytest.mark.parametrize(
    ("other", "scope", "says"),
    [
        (
            Access("write", at(6), FIRST, (32, 0, 0)),
            "block",
            "which thread (32, 0, 0) writes in line 6 with no __syncthreads() in between",
        ),
        (
            Access("write", UNKNOWN, FIRST, (0, 0, 0)),
            "warp",
            "which thread (0, 0, 0) writes with no __syncwarp() or __syncthreads() in between",
        ),
        (
            Access("read", at(6), FIRST, (32, 0, 0), any_of_warp=True),
            "block",
            "which the warp of thread (32, 0, 0) reads too in line 6 with",
        ),
        (Access("write", at(6), FIRST, None), "block", "which another thread of the block writes in line 6"),
    ],
)
def test_a_race_in_shared_memory_tells_both_accesses(other: Access, scope: str, says: str) -> None:
    text = message(of_tile("race", scope=scope, other=other))
    assert text.startswith("thread (1, 0, 0) reads shared memory at byte 132 (`tile`), ")
    assert says in text


@pytest.mark.parametrize("any_of_warp", [False, True])
def test_no_thread_races_with_itself(any_of_warp: bool) -> None:
    """Bookkeeping by warps may name the same first thread for both."""
    same = Access("write", at(6), FIRST, SECOND, any_of_warp)
    assert "which another thread of its warp writes" in message(of_tile("race", scope="warp", other=same))
    broadcast = of_tile("race", scope="warp", any_of_warp=True, other=replace(same, any_of_warp=False))
    assert message(broadcast).startswith("another thread of the warp of thread (1, 0, 0) reads")
    assert "which thread (1, 0, 0) writes" in message(broadcast)
    several = message(of_tile("race", scope="warp", any_of_warp=True, other=replace(same, any_of_warp=True)))
    assert several.startswith("a thread of the warp of thread (1, 0, 0) reads")
    assert "which another thread of its warp writes" in several


def test_who_raced_is_not_made_up() -> None:
    text = message(of_tile("race", scope="block"))
    assert "which another thread of the block accesses too with no __syncthreads() in between" in text
    text = message(of_tile("uninitialised_shared", any_of_warp=True))
    assert text.startswith(
        "the warp of thread (1, 0, 0) reads shared memory at byte 132 (`tile`), which no thread"
    )


@pytest.mark.parametrize(
    ("stored", "says"),
    [
        ((8, 264), "; `tile[0][2]` and `tile[2][0]` are the nearest that have been"),
        ((None, 264), "; `tile[2][0]` is the nearest that has been"),
        ((None, None), ", nor any other element of `tile`"),
        (None, ""),
    ],
)
def test_what_is_stored_near_an_element_that_is_not(
    stored: tuple[int | None, int | None] | None, says: str
) -> None:
    finding = of_tile("uninitialised_shared", element=33, shape=(32, 33), stored=stored)
    finding = replace(finding, allocation=Allocation(0, 4 * 32 * 33), block=(0, 1, 0))
    assert message(finding) == (
        "thread (1, 0, 0) of block (0, 1, 0) reads `tile[1][0]` in shared memory, which no thread of the block has "
        f"written{says}"
    )
    assert remedy(finding).startswith("Is each element of `tile` read by the indices that it is stored by")


def test_a_race_in_global_memory() -> None:
    block = Access("write", block=(2, 0, 0))
    of_blocks = of_b("race", 4 * 130, scope="grid", other=block, shape=(1, 131))
    assert message(of_blocks) == (
        "thread (1, 0, 0) of block (0, 0, 0) reads what block (2, 0, 0) has stored in `B`[0, 130]: blocks of a launch "
        "run at the same time, in any order"
    )
    assert "Blocks come to the same element. Each element of `B`" in remedy(
        replace(of_blocks, action="write")
    )
    one = replace(of_blocks, action="write", shape=(1,))
    assert remedy(one).endswith("stays: add with atomicAdd.")  # there is no element for each block
    assert remedy(replace(one, shape=None)).endswith("or give each block an element of its own.")
    read = replace(one, other=Access("read", thread=FIRST), scope="block", shape=(131,))
    assert message(read).startswith("thread (1, 0, 0) writes `B`[130], which thread (0, 0, 0) reads")
    unknown = replace(of_blocks, other=Access("write"))
    assert "reads what another block has stored" in message(unknown)
    fence = replace(of_blocks, blocks_wait=True)
    assert message(fence).endswith("and block (2, 0, 0) has executed no __threadfence() since")
    assert "__threadfence()" in remedy(fence)
    warp = Access("write", block=FIRST, thread=(32, 0, 0), any_of_warp=True)
    of_warps = replace(of_blocks, scope="block", other=warp, action="write", element=None)
    assert message(of_warps) == (
        "thread (1, 0, 0) overwrites what the warp of thread (32, 0, 0) has stored at byte 520 of `B`, with another "
        "value, with no __syncthreads() in between"
    )
    at_once = replace(of_warps, scope="warp")
    assert "overwrites what another thread of its warp stores at byte 520 of `B` at the same time" in message(
        at_once
    )


def test_who_adds_without_an_atomic_is_told_to_and_not_to_wait() -> None:
    for finding in (
        of_b("race", 0, scope="grid", accumulates=True),
        of_tile("race", scope="warp", accumulates=True),
    ):
        assert f"add with atomicAdd(&{finding.array}[…], …)." in remedy(finding)
        assert "__syncthreads" not in remedy(finding)
        assert "in between" not in message(finding)
        assert "atomicAdd(&" not in remedy(replace(finding, accumulates=False))
    one = of_tile("race", scope="warp", accumulates=True, array="s", size=4, allocation=Allocation(132, 4))
    assert "add with atomicAdd(&s, …)." in remedy(one)
    assert "writes `s` in shared memory" in message(replace(one, action="write"))


def test_a_barrier_goes_between_two_lines_where_no_loop_has_both() -> None:
    written = of_tile("race", scope="block", other=Access("write", at(5)), in_turn=True)
    assert remedy(written) == (
        "Put a __syncthreads() between lines 5 and 7, where all threads come by: before one reads `tile`, all are to "
        "have written it."
    )
    read = replace(written, action="write", other=Access("read", at(5)))
    assert remedy(read).endswith("before one writes `tile`, all are to have read it.")
    looped = remedy(replace(written, in_turn=False))
    assert "after `tile` is written and before it is read, and after it is read and before it is" in looped


def test_who_adds_behind_a_flag_is_told_to_fence_and_not_to_add_atomically() -> None:
    adds = of_b("race", 0, scope="grid", accumulates=True, blocks_wait=True)
    waits = (
        replace(adds, spins=True),
        replace(adds, fences="block"),
        replace(adds, spins=True, fences="grid"),
    )
    for finding in waits:
        assert "Put a __threadfence() between" in remedy(finding)
        assert "atomicAdd" not in remedy(finding)
    assert "add with atomicAdd" in remedy(replace(adds, fences="grid"))  # no lock by itself


def test_a_copy_that_has_not_arrived_tells_its_line() -> None:
    text = message(of_tile("unfinished_copy", other=Access("write", at(5))))
    assert text.endswith("at byte 132 (`tile`) while the copy of line 5 to it has not arrived")
    assert "while a copy to it has" in message(of_tile("unfinished_copy"))
    reads = of_tile("unfinished_copy", action="write", other=Access("read", at(5)))
    assert message(reads).endswith("at byte 132 (`tile`) while the copy of line 5 has not read it yet")
    assert "wait_group.read" in remedy(reads)


def test_what_a_phase_lacks() -> None:
    def told(fault: PhaseFault, arrived: int = 0, expected: int = 0, waited: int = 0) -> str:
        return message(of_tile("mbarrier", phase=Phase(fault, arrived, expected, 3, waited)))

    assert "uses shared memory at byte 132 (`tile`) as an mbarrier, which no thread" in told("absent")
    assert "brings 5 arrivals to phase 3" in told("overrun", 5, 4)
    assert told("overrun").endswith("for no arrivals a phase: 1 to 1,048,575 are possible")
    assert "it is initialised for 32 arrivals a phase, 31 have come, 1 is missing" in told("arrivals", 31, 32)
    assert "one after the other with no wait" in told("skipped")
    assert "expects 1,024 bytes in phase 3, and 512 arrive: the phase never completes" in told(
        "bytes", 512, 1024
    )
    assert "issues a copy to the mbarrier" in told("bytes", 1024, 512)
    assert "expects 512 bytes in phase 3, and 1,024 arrive: the phase is over too early" in told(
        "bytes", 1024, 512
    )
    assert "while those of phase 3 are still under way: the stage is filled again" in told("refilled")
    assert "again while phase 3 is under way" in told("in_use")
    remedies = {remedy(of_tile("mbarrier", phase=Phase(fault))) for fault in get_args(PhaseFault)}
    assert len(remedies) == len(get_args(PhaseFault))


def test_a_wait_for_the_wrong_parity_names_both_phases() -> None:
    def told(number: int, waited: int) -> str:
        return message(of_tile("mbarrier", phase=Phase("parity", number=number, waited=waited)))

    place = "the mbarrier in shared memory at byte 132 (`tile`)"
    assert f"waits for parity 0 of {place} while phase 3, of parity 1, is under way" in told(3, 2)
    assert "phase 2 was waited for before, so that the wait passes at once" in told(3, 2)
    assert f"waits for parity 1 of {place} while phase 0, of parity 0, is under way" in told(0, -1)
    assert "before the first phase is over, a wait for parity 1 passes at once" in told(0, -1)
    assert f"waits for parity 1 of {place}, so for phase 3, of which nothing has arrived" in told(3, 3)


def test_a_box_in_front_of_its_tensor_tells_the_coordinate() -> None:
    finding = of_b("out_of_bounds", 0, action="write", before=(1, -2))
    assert "coordinate 1 of the box (0 is the innermost) is -2" in message(finding)
    assert "take no negative coordinate" in remedy(finding)


def test_a_copy_is_no_thread() -> None:
    copied = of_tile("race", scope="block", other=Access("write", at(5), by_copy=True))
    assert message(copied).endswith("which a copy writes in line 5 with no wait for its mbarrier in between")
    assert "phase" in remedy(copied)
    unfenced = of_tile("proxy_fence", scope="block", other=Access("write", at(5), thread=FIRST))
    assert message(unfenced) == (
        "the copy that thread (1, 0, 0) issues reads shared memory at byte 132 (`tile`), which thread (0, 0, 0) writes "
        "in line 5, with no fence.proxy.async in between"
    )
    assert message(replace(unfenced, instruction="wgmma")).startswith(
        "the wgmma that thread (1, 0, 0) issues reads"
    )


def test_what_blocks_of_a_cluster_do_to_each_other() -> None:
    race = of_tile("race", scope="cluster", owner=SECOND, other=Access("write", at(5), SECOND, (3, 0, 0)))
    assert message(race) == (
        "thread (1, 0, 0) of block (0, 0, 0) reads shared memory at byte 132 (`tile`) of block (1, 0, 0), which thread "
        "(3, 0, 0) of block (1, 0, 0) writes in line 5 with no barrier of the cluster and no mbarrier in between"
    )
    assert "cluster.sync()" in remedy(race)
    shown = result(of_tile("absent_block", owner=SECOND, absence="ended"), "k")
    assert (shown.owner, shown.absence) == ([1, 0, 0], "ended")
    told = {
        absence: message(of_tile("absent_block", owner=SECOND, absence=absence))
        for absence in get_args(Absence)
    }
    assert "and nothing says that this block has begun" in told["not_begun"]
    assert "which may have ended by then" in told["ended"]
    assert "the rank is too high" in told["no_such_block"]
    remedies = {
        remedy(of_tile("absent_block", owner=SECOND, absence=absence)) for absence in get_args(Absence)
    }
    assert len(remedies) == len(told)
    beyond = of_tile("out_of_bounds", owner=SECOND, size=4, allocation=Allocation(0, 128))
    assert message(beyond).endswith(
        "4 bytes of shared memory at byte 132, where block (1, 0, 0) has 128 bytes"
    )
    apart = Finding("barrier", at(7), 1, FIRST, scope="cluster", arrivals=Arrivals(0, 32, 64))
    assert message(apart).startswith(
        "block (0, 0, 0) deadlocked at the barrier of its cluster: 32 of 64 threads"
    )
    assert "cluster" in remedy(apart)
    named = Finding("barrier", at(7), 1, FIRST, arrivals=Arrivals(1, 128, 256))
    assert "named barrier" in remedy(named)
    assert "__syncthreads()" in remedy(replace(named, arrivals=Arrivals(0, 128, 256)))


def test_what_warps_and_blocks_do_together() -> None:
    absent = Finding(
        "absent_lanes", at(7), 1, FIRST, SECOND, other=Access(None, thread=FIRST), instruction="shfl.sync"
    )
    assert message(absent) == (
        "thread (0, 0, 0) executes shfl.sync with thread (1, 0, 0) in its mask, which is elsewhere"
    )
    assert "condition on what they do with the result" in remedy(absent)
    assert "0xffffffff where all 32 lanes" in remedy(replace(absent, other=Access(None, thread=SECOND)))
    part = Finding("barrier", at(7), 1, FIRST)
    assert message(part).startswith("only some threads of a warp reach this barrier while")
    assert "(lines 7 and 9)" in message(replace(part, other=Access(place=at(9))))
    assert "(two of them in line 7)" in message(replace(part, other=Access(place=at(7))))


def test_a_result_has_what_is_known() -> None:
    other = Access("write", at(6), FIRST, (32, 0, 0))
    shown = result(of_b("race", 8, scope="block", other=other), "scale")
    assert (shown.kernel, shown.line, shown.block, shown.thread) == ("scale", 7, [0, 0, 0], [1, 0, 0])
    assert (shown.space, shown.action, shown.size, shown.scope) == ("global", "read", 4, "block")
    assert (shown.array, shown.element, shown.shape) == ("B", 2, [131])
    assert (shown.address, shown.offset, shown.allocation_bytes) == (BASE + 8, 8, 524)
    assert shown.other is not None
    assert (shown.other.action, shown.other.line, shown.other.thread) == ("write", 6, [32, 0, 0])
    assert "consumer_wait()" in remedy(of_tile("unfinished_copy")), "as CUDA C++ writes it, not PTX alone"
    assert "wait(token)" in remedy(of_tile("unfinished_copy"))
    trap = result(Finding("trap", at(0), 1), "scale")
    assert "calls itself" in remedy(Finding("trap", at(0), 1))
    assert (trap.line, trap.block, trap.thread, trap.offset, trap.other) == (None, None, None, None, None)


def test_every_field_of_a_result_is_in_the_book() -> None:
    book = BOOK.read_text("utf-8")
    for kind in (FindingResult, OtherAccess):
        assert [field.name for field in fields(kind) if f"`{field.name}`" not in book] == []


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZZ7dynamicE4tile", "tile"),
        ("_ZZ4gemmILi32EEvPKfS1_PfE6tile_a", "tile_a"),
        ("_ZZ4gemmILi32ELi8EEvPKfE4tile_0", "tile"),
        ("_ZN8settings7weightsE", None),
        ("weights", "weights"),
    ],
)
def test_names_of_variables_in_the_source(symbol: str, name: str | None) -> None:
    assert found_by_the_emulator.source_name(symbol) == name


def test_barriers_whose_lines_are_not_known() -> None:
    def told(line: int, other: int) -> str:
        return message(Finding("barrier", at(line), 1, FIRST, other=Access(place=at(other), block=FIRST)))

    assert told(3, 7).endswith("different barriers (lines 3 and 7)")
    assert told(7, 7).endswith("different barriers (two of them in line 7)")
    assert told(0, 7).endswith("different barriers (one of them in line 7)")
    assert told(0, 0).endswith("wait at different barriers")
    assert "reach a barrier while" in message(Finding("barrier", at(0), 1, FIRST))
