"""benchmarks/mutants.py: what its operators change, and a hundred mutants that the judge has to see."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import mutants
import pytest
from mutation import launch_blocks, schedules
from mutation.operators import OPERATORS, is_no_mutant
from mutation.tokens import Source

from grader.errors import WarpladderError
from grader.workbook import topics

PARTS = 4

CODE = """// a + b stays
for (int i = 0; i < N; ++i) {
    if (row < M && i < K) sum[i][row] += a[i] + size_t(row) * K;
    __syncthreads();
}
if (lane == warp) atomicAdd(&out[0], __shfl_xor_sync(0xffffffff, value, 1));
"""

BLOCK = """// /// launch
// [[launch]]
// kernel = "gemm"
// zero = ["C"]
// grid = ["cdiv(M, 8)", "N"]
// block = [32, 8]
// ///
"""

SCHEDULE = """for first in range(0, N, CHUNK):
    stream.wait_for_event(filled)
    count = min(CHUNK, N - first)
"""


@pytest.mark.parametrize(
    ("operator", "becomes"),
    [
        ("dropped barrier", "    ;\n"),
        ("dropped guard", "if (row < M ) sum"),
        ("dropped guard", "if ( i < K) sum"),
        ("dropped guard", "if (false) atomicAdd"),
        ("negated condition", "if (!(lane == warp)) atomicAdd"),
        ("off by one", "i <= N; ++i"),
        ("constant", "int i = 1;"),
        ("wrong mask", "0x7fffffff, value"),
        ("arithmetic", "a[i] - size_t(row) * K"),
        ("assignment", "sum[i][row] = a[i]"),
        ("smaller type", "a[i] + int(row) * K"),
        ("swapped index", "sum[row][i] +="),
        ("wrong size", "size_t(row) * M;"),
        ("swapped names", "if (warp == warp)"),
        ("dropped term", "+= a[i] ;"),
        ("doubled term", "+= 2 * (a[i] + size_t(row) * K);"),
        ("dropped statement", "if (row < M && i < K) ;"),
        ("left out jump", "i < N; i += 2)"),
        ("plain for atomic", "*(&out[0]) += __shfl_xor_sync(0xffffffff, value, 1);"),
    ],
)
def test_an_operator_changes_one_place(operator: str, becomes: str) -> None:
    found = [edit.applied(CODE) for edit in OPERATORS[operator](Source(CODE))]
    assert any(becomes in text for text in found), found
    assert all(text.startswith("// a + b stays\n") for text in found)


@pytest.mark.parametrize(
    ("operator", "becomes"),
    [
        ("forgotten zero", '"gemm"\n// grid'),
        ("changed grid", "M // 8"),
        ("changed grid", '["N", "cdiv(M, 8)"]'),
        ("changed block", "block = [8, 32]"),
    ],
)
def test_a_launch_block_is_changed(operator: str, becomes: str) -> None:
    assert any(
        becomes in edit.applied(BLOCK) for name, edit in launch_blocks.edits(BLOCK) if name == operator
    )


@pytest.mark.parametrize(
    ("operator", "becomes"),
    [
        ("dropped wait", "    pass\n"),
        ("constant", "range(1, N, CHUNK)"),
        ("arithmetic", "N + first"),
        ("arithmetic", "max(CHUNK"),
        ("swapped names", "wait_for_event(computed)"),
    ],
)
def test_a_schedule_is_changed(operator: str, becomes: str) -> None:
    assert any(
        becomes in edit.applied(SCHEDULE) for name, edit in schedules.edits(SCHEDULE) if name == operator
    )


POINTERS = """static_assert(BM % 8 == 0, "whole");
__global__ void f(const float* __restrict__ A, float* C, int M, int N) {
    const float* const row = A + size_t(i) * N;
    if (row < N) *reinterpret_cast<float4*>(C) = sum;
    asm volatile("bar.sync 0;" ::: "memory");
}
"""


@pytest.mark.parametrize(
    ("operator", "becomes", "compiles"),
    [
        ("arithmetic", "BM / 8 == 0", False),
        ("constant", "BM % 9 == 0", False),
        ("arithmetic", "const float+ __restrict__ A", False),
        ("arithmetic", "const float+ const row", False),
        ("arithmetic", "size_t(i) + N", True),
        ("off by one", "row <= N", True),
        ("off by one", "<float4*>=(C)", False),
        ("wrong size", "size_t(i) * C", False),
        ("plain for atomic", "asm (", False),
    ],
)
def test_what_cannot_compile_is_no_mutant(operator: str, becomes: str, compiles: bool) -> None:
    source = Source(POINTERS)
    (edit,) = [edit for edit in OPERATORS[operator](source) if becomes in edit.applied(POINTERS)]
    assert is_no_mutant(source, edit) != compiles


LISTED = [
    (file.stem, entry, rung)
    for file in (mutants.EQUIVALENT, mutants.SURVIVORS)
    for entry in mutants.entries(file)
    for rung in entry["rungs"]
]


@cache
def made_of(topic: str, rung: str) -> tuple[tuple[str, ...], set[tuple[str, ...]]]:
    """A rung's lines without what they are indented by, and those of all mutants of it."""
    path = topics.load(topic).rung(rung).path
    text = path.read_text("utf-8")
    source = Source(text)
    made = {
        tuple(line.strip() for line in edit.applied(text).splitlines())
        for _, edit in mutants.edits_of(text, path.suffix)
        if path.suffix == ".py" or not is_no_mutant(source, edit)
    }
    return tuple(line.strip() for line in text.splitlines()), made


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize(("name", "entry", "rung"), LISTED)
def test_what_is_listed_stands_in_its_rung(name: str, entry: dict[str, Any], rung: str) -> None:
    lines, made = made_of(entry["topic"], rung)
    meant = mutants.numbers_of(entry, rung)
    assert meant, "the rung has no such line"
    for number, becomes in product(meant, entry["becomes"]):
        assert (*lines[: number - 1], becomes, *lines[number:]) in made, f"no operator makes {becomes}"
    assert entry["why"]


@pytest.mark.soak(area="judge")
def test_a_hundred_are_spread_over_topics_and_operators() -> None:
    sample = mutants.chosen(list(topics.discover()), mutants.EACH, 100)
    assert len(sample) == 100
    assert {mutant.topic for mutant in sample} == set(topics.discover())
    assert len({(mutant.topic, mutant.operator) for mutant in sample}) == 100


@pytest.mark.soak(area="judge")
def test_those_alone_are_graded_again_that_met_a_fate(tmp_path: Path) -> None:
    sample = mutants.chosen(["transpose"], 1, 2)
    old = [mutants.Fate(item.key, item.topic, item.rung, item.operator, "killed", "", "") for item in sample]
    results = tmp_path / "results.jsonl"
    results.write_text("".join(json.dumps(asdict(fate)) + "\n" for fate in old))
    assert mutants.run(sample, 1, results, again="survived") == old
    assert mutants.run(sample[1:], 1, results, again="killed") != old[1:]


@pytest.mark.soak(area="judge")
def test_after_its_minutes_no_other_is_begun() -> None:
    """One process has three of them by then: one graded, and two that it was handed."""
    sample = mutants.chosen(["transpose"], 1, 6)
    assert 1 <= len(mutants.run(sample, jobs=1, minutes=0)) < 6


def test_a_mutant_that_the_judge_fails_on_is_no_survivor(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise WarpladderError("the judge ended")

    monkeypatch.setattr(mutants, "grade", fails)
    text = topics.load("transpose").rungs[0].path.read_text("utf-8").replace("row < M", "row <= M")
    fate = mutants.fate_of(mutants.Mutant("transpose", "00_naive", "by hand", text))
    assert (fate.fate, fate.why) == ("no grade", "the judge ended")
    assert mutants.rate([fate]) == 0


@pytest.mark.soak(area="judge")
def test_there_are_two_thousand_and_always_the_same() -> None:
    names = list(topics.discover())
    found = mutants.chosen(names, mutants.EACH, None)
    assert len(found) >= 2000
    assert {mutant.topic for mutant in found} == set(names)
    assert set(OPERATORS) <= {mutant.operator for mutant in found}
    first = mutants.chosen(names[:1], mutants.EACH, None)
    assert [mutant.key for mutant in first] == [
        mutant.key for mutant in mutants.chosen(names[:1], mutants.EACH, None)
    ]


@pytest.mark.soak(area="judge")
def test_a_mutant_that_compiles_to_the_same_is_equivalent(tmp_path: Path) -> None:
    topic = topics.load("transpose")
    text = topic.rungs[0].path.read_text("utf-8").replace("step < TILE", "step <= TILE - 1")
    harmless = mutants.Mutant("transpose", topic.rungs[0].id, "by hand", text)
    wrong = mutants.Mutant("transpose", topic.rungs[0].id, "by hand", text.replace("row < M", "row <= M"))
    broken = mutants.Mutant("transpose", topic.rungs[0].id, "by hand", text.replace("row < M", "rows < M"))
    results = tmp_path / "results.jsonl"
    fates = mutants.run([harmless, wrong, broken], 1, results)
    assert [fate.fate for fate in fates] == ["equivalent", "killed", "no program"]
    assert "+        if (row <= M && column < N) {" in fates[1].diff
    assert mutants.rate(fates) == 1
    assert mutants.run([harmless, wrong, broken], 1, results) == fates
    assert len(results.read_text("utf-8").splitlines()) == 3


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.timeout(900)
def test_a_hundred_mutants_are_seen(part: int) -> None:
    sample = mutants.chosen(list(topics.discover()), mutants.EACH, 100)
    fates = [mutants.fate_of(mutant) for mutant in sample[part::PARTS]]
    unseen = [
        f"{fate.topic}/{fate.rung}: {fate.operator}, {fate.fate} {fate.why}\n{fate.diff}"
        for fate in fates
        if fate.fate == "no grade" or (fate.fate == "survived" and not fate.why)
    ]
    assert not unseen, "\n\n".join(unseen)
