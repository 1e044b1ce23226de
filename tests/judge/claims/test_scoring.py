"""Claims, the rung they reach, points and hints, on counters that no kernel made."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from records import record

from grader.analysis.devices import board, boards
from grader.analysis.model import LaunchStats, LaunchTime, ModelledTime, modelled_time
from grader.analysis.occupancy import occupancy
from grader.analysis.what_if import Modelled
from grader.emulator import metrics
from grader.emulator.streams.commands import Recording
from grader.emulator.streams.timeline import Timeline
from grader.errors import WarpladderError
from grader.judge.claims import hints, pace, scoring
from grader.judge.claims.derived import with_sums
from grader.judge.claims.pace import Times
from grader.judge.kernels import counting
from grader.judge.kernels.counting import Resources, flop
from grader.judge.schedules.facts import facts
from grader.results import ClaimResult, TimeLimit
from grader.workbook import topics
from grader.workbook.expressions import ExpressionError, parse
from grader.workbook.ladder import ClaimSpec, Ladder, Rung, figures
from grader.workbook.marks import resembled
from grader.workbook.topic import COUNTED_FACTS, SIMULATED_FACTS, Topic

TOPIC = topics.load("transpose")
LADDER = Ladder("some", tuple(Rung(name, TOPIC.rungs[0].file) for name in "abcd"), ())


SIZES = {"M": 1024, "N": 1024}


def spec(expect: str, per: str | None = None, unit: str = "") -> ClaimSpec:
    return ClaimSpec("a", "text", parse(expect), 5, 1, None if per is None else parse(per), unit)


def claims(**held: bool | None) -> list[ClaimResult]:
    return [ClaimResult("text", value, None, rung, 10) for rung, value in held.items()]


@pytest.mark.parametrize(
    ("expect", "held", "value", "limit"),
    [
        ("x.sum <= 2 * N", True, 6.0, 8.0),
        ("x.sum + 3 <= 2 * N", False, 9.0, 8.0),
        ("x.sum / N > 1.5", False, 1.5, 1.5),
        ("x.sum == 6 and N == 5", False, 6.0, None),
        ("x.sum * N % 5 == 0", False, 4.0, None),
    ],
)
def test_a_claim_shows_both_sides(expect: str, held: bool, value: float, limit: float | None) -> None:
    result = scoring.check(spec(expect), {"x.sum": 6, "N": 4})
    assert (result.held, result.value, result.limit) == (held, value, limit)
    assert (result.points, result.rung, result.expect) == (5, "a", expect)


@pytest.mark.parametrize(
    ("expect", "per", "unit", "told"),
    [
        ("x <= N * N", "N * N / 8", "sectors a warp's step", "33 sectors a warp's step; at most 8 required"),
        ("x >= N * N", "N * N / 8", "sectors for a step", "33 sectors for a step; at least 8 required"),
        ("x == 0", "x", "conflicts for 32 floats", "1 conflict for 32 floats; none allowed"),
        ("x <= 65.97 * N", "N * N", "loads", "4.125 loads; at most 4.123 required"),
        ("x <= N", None, "launches", "66 launches; at most 16 required"),
        ("x <= N", None, "", "66 found; at most 16 required"),
        ("x <= N", "N - 16", "loads", "66 loads; at most 16 required"),
        ("x <= N and x <= 1", "N", "loads", ""),
    ],
)
def test_a_claim_is_told_in_the_unit_that_people_think_in(
    expect: str, per: str | None, unit: str, told: str
) -> None:
    values = {"x": 66 * 16 if per and "N * N" in per else 66, "N": 16}
    assert figures(scoring.check(spec(expect, per, unit), values)) == told


@pytest.mark.parametrize("topic", topics.discover().values(), ids=lambda topic: topic.name)
def test_every_figure_of_a_topic_has_a_unit(topic: Topic) -> None:
    for claim in topic.claims:
        if claim.expect is not None:
            compared = scoring.check(claim, dict.fromkeys((*claim.expect.names, *_sizes(claim)), 1)).limit
            assert claim.unit or compared is None, claim.text


def _sizes(claim: ClaimSpec) -> frozenset[str]:
    return claim.per.names if claim.per else frozenset()


def test_without_counters_a_claim_is_neither_held_nor_broken() -> None:
    assert scoring.check(spec("x <= 1"), None).held is None


def test_a_claim_on_what_is_not_counted_is_an_error() -> None:
    with pytest.raises(ExpressionError, match="no value"):
        scoring.check(spec("y <= 1"), {"x": 1})


@pytest.mark.parametrize(
    ("given", "rung", "points"),
    [
        (claims(), "d", 0),
        (claims(a=True, b=True, c=True, d=True), "d", 40),
        (claims(a=True, b=False, c=True, d=True), "a", 10),
        (claims(b=True, c=None, d=True), "b", 10),
        (claims(d=False), "c", 0),
        (claims(a=False, b=True), "a", 0),
        ([*claims(b=True), *claims(b=False)], "a", 0),
    ],
)
def test_the_reached_rung_is_the_last_below_a_broken_claim(
    given: list[ClaimResult], rung: str, points: int
) -> None:
    assert LADDER.reached(given) == rung
    assert LADDER.paid(rung, given) == points


def test_a_rung_answers_for_the_claims_of_those_before_it() -> None:
    first, second, *_ = [rung.id for rung in TOPIC.rungs]
    assert {claim.rung for claim in TOPIC.ladder.claims_up_to(first)} == {first}
    assert {claim.rung for claim in TOPIC.ladder.claims_up_to(second)} == {first, second}
    assert TOPIC.ladder.claims_up_to(TOPIC.rungs[-1].id) == tuple(
        claim for rung in TOPIC.rungs for claim in TOPIC.claims if claim.rung == rung.id
    )


def test_a_hint_names_the_next_rungs_claim_and_idea() -> None:
    first, second, *_ = [rung.id for rung in TOPIC.rungs]
    missing = ClaimResult(
        "writes are coalesced",
        False,
        1_048_576.0,
        second,
        15,
        "x <= y",
        131_072.0,
        per=32_768.0,
        unit="sectors",
    )
    other = ClaimResult("there are many of them", False, 7.0, second, 15, "x == 8", 8.0)
    hint, further = hints.next_rung(TOPIC.ladder, first, [missing, other], SIZES, TOPIC.rung(first).source)
    assert hint.rung == second
    assert "writes are coalesced. Yours: 32 sectors; at most 4 required (1024²). The idea: " in hint.text
    assert hints.first_sentence(TOPIC.rung(second).idea) in hint.text
    assert (
        further.text == f"{second} needs as well: there are many of them. Yours: 7 found; 8 required (1024²)."
    )


@pytest.mark.parametrize(("reached", "told"), [("02_shared_tile", False), ("03_padded_tile", True)])
def test_padding_is_no_idea_for_a_kernel_that_it_helps_nothing(reached: str, told: bool) -> None:
    following = TOPIC.ladder.ids[TOPIC.ladder.place(reached) + 1]
    missing = ClaimResult("no bank conflicts", False, 98_304.0, following, 15, "x == 0", 0.0)
    (hint,) = hints.next_rung(TOPIC.ladder, reached, [missing], SIZES, "", padded_in_vain=True)
    assert ("The idea: " in hint.text) == hint.idea == told
    (hint,) = hints.next_rung(TOPIC.ladder, reached, [missing], SIZES, "")
    assert "The idea: " in hint.text


def test_rung_0s_own_claims_come_before_the_next_rungs() -> None:
    first, second, *_ = [rung.id for rung in TOPIC.rungs]
    wasteful = ClaimResult("every element is read once", False, 65_536.0, first, 5, "x <= y", 36_045.0)
    above = ClaimResult("writes are coalesced", False, 1.0, second, 15, "x <= y", 0.0)
    (hint,) = hints.next_rung(TOPIC.ladder, first, [wasteful, above], SIZES, TOPIC.rung(first).source)
    assert hint.rung == first
    assert (
        "every element is read once. Yours: 65.5k found; at most 36k required (1024²). The idea: "
        in hint.text
    )


def test_no_idea_is_told_that_a_kernel_has() -> None:
    topic = topics.load("histogram")
    first, second, *_ = [rung.id for rung in topic.rungs]
    naive, claims = topic.rung(first).source, [ClaimResult("few", False, 2.0, second, 5, "x <= y", 1.0)]
    (hint,) = hints.next_rung(topic.ladder, first, claims, SIZES, naive)
    assert "The idea: Each block counts 8192 bytes" in hint.text
    copied = naive.replace("const size_t i", "__shared__ unsigned counts[256]; const size_t i")
    (hint,) = hints.next_rung(topic.ladder, first, claims, SIZES, copied)
    assert "The idea:" not in hint.text
    assert "there are as many blocks as the GPU can hold" in hint.text
    also = [ClaimResult("read once", False, 2.0, first, 5, "x <= y", 1.0), *claims]
    for source, idea in ((naive, True), (copied, False)):
        (hint,) = hints.next_rung(topic.ladder, first, also, SIZES, source)
        assert ("A thread takes one byte" in hint.text) == hint.idea == idea


@pytest.mark.parametrize(
    ("blocks", "loads", "yours"),
    [
        (
            512,
            95,
            "Yours: 11.9 loads from shared memory a warp; at most 8 required",
        ),  # of a tree by `% (2 * half)`
        (4096, 25, "Yours: 4 threads for four numbers; at most 1.1 required"),
    ],
)
def test_a_sum_is_told_which_of_the_claims_on_its_threads_it_breaks(
    blocks: int, loads: int, yours: str
) -> None:
    topic, numbers = topics.load("block_sum"), {"N": 1 << 20}
    last = topic.rungs[-1]
    values = {"grid_blocks": blocks, "block_threads": 256, "shared_load_instructions": loads * blocks}
    own = [
        scoring.check(claim, {**values, **numbers}) for claim in topic.ladder.claims if claim.rung == last.id
    ]
    below = [
        ClaimResult(claim.text, True, None, claim.rung)
        for claim in topic.ladder.claims
        if claim.rung != last.id
    ]
    (hint,) = hints.next_rung(topic.ladder, "02_tree", [*below, *own], numbers, last.source)
    assert yours in hint.text


@pytest.mark.parametrize(
    ("own", "took"), [(1.2e-3, "it takes ≈1.2 ms"), (None, "a block of it has not ended")]
)
def test_who_is_too_slow_is_told_by_how_much(own: float | None, took: str) -> None:
    times = Times(own, {"a": 1e-3, "b": 0.5e-3})
    limit = pace.limit(LADDER, "b", times)
    assert limit is not None
    assert not limit.held
    hint = hints.too_slow(LADDER, limit, times)
    assert (
        f"has all that b claims, and is too slow for it: at the main sizes {took}, at most ≈1.1 ms"
        in hint.text
    )
    assert hint.text.endswith(f"The idea: {hints.first_sentence(LADDER['b'].idea)}")
    assert (hint.rung, hint.value, hint.limit, hint.idea) == ("b", own, limit.limit_s, False)


@pytest.mark.parametrize(
    ("blocks", "terms", "why"),
    [
        (
            500,
            {"issue": 9e-4, "dram": 5e-4},
            "issuing instructions takes ≈900 µs in your kernel, and ≈600 µs in b's",
        ),
        (500, {"issue": 6e-4, "dram": 5e-4}, "Let all warps and all multiprocessors work"),
        (1, {"issue": 9e-4, "dram": 5e-4}, "The grid has 1 block, and the GPU 132 multiprocessors"),
    ],
)
def test_who_is_too_slow_is_told_what_takes_longer(blocks: int, terms: dict[str, float], why: str) -> None:
    model = pace.Model(
        ModelledTime(1.2e-3, terms, "issue", blocks),
        {"b": Modelled(terms={"issue": 6e-4, "dram": 5e-4})},
        132,
    )
    times = Times(1.2e-3, {"a": 1e-3, "b": 0.5e-3}, model=model)
    limit = pace.limit(LADDER, "b", times)
    assert limit is not None
    assert why in hints.too_slow(LADDER, limit, times).text


FILLS = LaunchTime("fill", 1e-3, 5000, 256, full=True)


@pytest.mark.parametrize(
    ("launches", "told", "untold"),
    [
        ([FILLS], "waiting for blocks to begin, and for loads, takes", "more warps|most of the time"),
        (
            [replace(FILLS, full=False)],
            "wait for each other, or have more warps at a time.",
            "most of the time",
        ),
        (
            [FILLS, replace(FILLS, seconds=1e-4)],
            "one launch of `fill` takes most of the time, ≈1 ms",
            "Its grid",
        ),
        (
            [replace(FILLS, seconds=1e-4), LaunchTime("rest", 1e-3, 1, 32, full=False)],
            "one launch of `rest` takes most of the time, ≈1 ms. Its grid has 1 block of 32 threads: let more",
            "more warps|fill",
        ),
        ([replace(FILLS, seconds=4e-4)] * 3, "waiting for blocks", "most of the time"),
    ],
)
def test_the_launch_that_takes_most_of_the_time_is_told(
    launches: list[LaunchTime], told: str, untold: str
) -> None:
    own = ModelledTime(1.2e-3, {"latency": 9e-4}, "latency", 5000, tuple(launches))
    times = Times(
        1.2e-3, {"a": 1e-3, "b": 0.5e-3}, model=pace.Model(own, {"b": Modelled(terms={"latency": 1e-4})}, 132)
    )
    limit = pace.limit(LADDER, "b", times)
    assert limit is not None
    text = hints.too_slow(LADDER, limit, times).text
    assert told in text
    assert not re.search(untold, text)


def test_a_modelled_time_knows_its_launches() -> None:
    device = board("H200", "sm_90")
    few = LaunchStats(1, 32, 16, 0, {}, l1_clocks=0, dram_read=0, dram_write=0, l2_read=0, kernel="rest")
    many = replace(few, blocks=100_000, block_threads=1024, kernel="fill")
    heavy = replace(many, registers=64, kernel="heavy")
    found = modelled_time(device, [few, many, heavy]).launches
    assert [(each.kernel, each.blocks, each.block_threads, each.full) for each in found] == [
        ("rest", 1, 32, False),
        ("fill", 100_000, 1024, True),
        ("heavy", 100_000, 1024, False),
    ]


def _of_instructions(source: str, line: int, its_blocks: int = 0) -> str:
    """What a kernel of 500 blocks is told that issues too many instructions, most of them in a line."""
    its = Modelled(terms={"issue": 6e-4}, blocks=its_blocks)
    model = pace.Model(ModelledTime(1.2e-3, {"issue": 9e-4}, "issue", 500), {"b": its}, 132)
    times = Times(1.2e-3, {"a": 1e-3, "b": 0.5e-3}, model=model)
    limit = pace.limit(LADDER, "b", times)
    assert limit is not None
    return hints.too_slow(LADDER, limit, times, source, hints.IssuedLine(line, 0.58)).text


@pytest.mark.parametrize(
    ("loop", "told"),
    [
        ("for (int k = -R; k <= R; ++k) sum += tile[k];", {"same for all turns"}),
        (
            "for (int k = -R; k <= R; ++k) if (i + k < N) sum += tile[k];",
            {"asked in each turn", "same for all turns"},
        ),
        (
            "for (int k = threadIdx.x; k < R; k += blockDim.x) tile[k] = 0;",
            {"depend on the thread", "same for all turns"},
        ),
        ("while (i < N) i += 2;", {"depend on the thread", "same for all turns"}),
        ("sum += tile[i];", {"execute fewer."}),
    ],
)
def test_of_instructions_the_line_is_told_and_what_its_own_loop_has(loop: str, told: set[str]) -> None:
    others = "for (int k = threadIdx.x; k < N; k += 2) if (k > 3) tile[k] = 0;"
    text = _of_instructions(f"constexpr int R = 8;\n{loop}\n{others}", 2)
    assert f"Line 2, `{loop}`, issues 58 % of those that were counted. " in text
    ways = ("asked in each turn", "depend on the thread", "same for all turns", "execute fewer.")
    assert {way for way in ways if way in text} == told


def test_a_line_that_the_file_does_not_have_is_told_by_its_number() -> None:
    assert "Line 90 issues 58 % of those that were counted. " in _of_instructions("sum += tile[i];", 90)


@pytest.mark.parametrize(("its_blocks", "told"), [(0, False), (251, False), (250, True)])
def test_many_blocks_are_told_to_be_fewer(its_blocks: int, told: bool) -> None:
    text = _of_instructions("for (int k = 0; k < 8; ++k) counts[k] = 0;", 1, its_blocks)
    assert ("Your grid has 500 blocks, and that of b 250: let fewer blocks take more" in text) == told
    assert ("computed once, in front of it" in text) != told


@pytest.mark.parametrize(
    ("text", "rung"),
    [("__shared__ float s[256];", "01_one_adds"), ("s += double4(0).x;", None), ("", None)],
)
def test_what_a_text_resembles_is_the_lowest_rung_that_has_its_idea(text: str, rung: str | None) -> None:
    assert resembled(topics.load("block_sum").ladder, text) == rung


def test_every_term_of_the_model_has_words() -> None:
    launch = LaunchStats(1, 32, 16, 0, {}, l1_clocks=0, dram_read=0, dram_write=0, l2_read=0)
    assert modelled_time(boards()[0], [launch]).terms.keys() == hints._TERMS.keys()


def test_a_limit_is_a_tenth_above_the_slower_of_two_rungs() -> None:
    assert pace.compared_with(LADDER, ["b", "c"]) == ["a", "b", "c"]
    times = {"b": 1.0, "c": 1.05}
    limits = [pace.limit(LADDER, "c", Times(own, times)) for own in (1.1, 1.2, None)]
    assert limits == [TimeLimit("c", 1.1 * 1.05, held) for held in (True, False, False)]
    assert pace.limit(LADDER, "c", Times(1.0, {"a": 1.0})) is None


@pytest.mark.parametrize(
    ("own", "least", "most", "held"),
    [(1.2, 1.09, 1.0, True), (1.2, 1.15, 1.05, True), (1.2, 1.15, 1.0, False), (None, None, 1.0, False)],
)
def test_a_measured_limit_is_broken_only_where_intervals_lie_apart(
    own: float | None, least: float | None, most: float, held: bool
) -> None:
    times = Times(own, {"b": 1.0, "c": 0.9}, "measured", least, {"b": most, "c": 0.91})
    assert pace.limit(LADDER, "c", times) == TimeLimit("c", 1.1 * most, held)


def test_a_claim_that_does_not_hold_at_other_sizes_says_nothing() -> None:
    assert [claim.held for claim in scoring.elsewhere(claims(a=True, b=False, c=None))] == [True, None, None]


def test_there_is_nothing_above_the_last_rung() -> None:
    assert hints.next_rung(TOPIC.ladder, TOPIC.rungs[-1].id, [], SIZES, "") == []


def test_a_fused_multiply_add_is_two_operations() -> None:
    metric = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
    executed = {metric.format(name): count for name, count in (("ffma", 10), ("dadd", 1), ("hmul", 1))}
    assert flop(executed | {"other": 9}) == 22


def test_constants_are_loaded_by_instructions_and_by_sectors() -> None:
    read = {metrics.CONSTANT_INSTRUCTIONS: 3, metrics.CONSTANT_SECTORS: 48, metrics.GLOBAL_REQUESTS["ld"]: 5}
    sums = with_sums(read)
    assert (sums["load_requests"], sums["constant_loads"]) == (8, 3)
    assert (sums["load_sectors"], sums["constant_sectors"]) == (48, 48)


def test_what_claims_may_name_is_what_they_are_given() -> None:
    resources = Resources(32, 0, 0, occupancy(boards()[0], 32, 32, 0), 1, 32, 1, 132)
    assert tuple(counting.facts(resources, [record()])) == COUNTED_FACTS
    recording = Recording((), (True, False, False), 0, (), ())
    assert tuple(facts(recording, Timeline(1.0, ()), lambda launch: (), ())) == SIMULATED_FACTS


@pytest.mark.parametrize(("blocks", "busiest"), [(132, 10), (133, 20), (512, 40)])
def test_blocks_are_dealt_out_to_multiprocessors_in_turn(blocks: int, busiest: int) -> None:
    resources = Resources(32, 0, 0, occupancy(boards()[0], 32, 32, 0), 1, 32, 1, 132)
    records = [
        record(grid_blocks=blocks, longest_warp=4, longest_block=10),
        record(grid_blocks=1, longest_warp=1, longest_block=3),
    ]
    found = counting.facts(resources, records)
    assert (found["longest_warp"], found["longest_block"]) == (5, 13)
    assert found["busiest_multiprocessor"] == busiest + 3


def test_a_ladder_knows_its_places() -> None:
    assert LADDER.up_to("b") == ("a", "b")
    assert LADDER.up_to(None) == ()
    above = LADDER.above("c")
    assert above is not None
    assert (above.id, LADDER.above("d")) == ("d", None)
    assert LADDER.reaches("c", "b")
    assert not LADDER.reaches("a", "b")
    assert not LADDER.reaches(None, "a")
    with pytest.raises(WarpladderError, match="some has no rung `e`"):
        LADDER.place("e")


def test_of_counts_in_shared_memory_it_is_told_that_blocks_count_many_bytes() -> None:
    """What who counts in shared memory already, a few bytes a block, is told as the idea of the rung."""
    assert "counts 8192 bytes or more" in hints.first_sentence(
        topics.load("histogram").ladder["01_block_copy"].idea
    )
