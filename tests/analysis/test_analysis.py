"""The time model held against measurements, and what another device would take."""

from dataclasses import replace

import pytest
from rich.console import Console, RenderableType

from grader.analysis.devices import named
from grader.analysis.verification import Pair, error, kendall, order, pairs
from grader.analysis.what_if import Modelled, what_if
from grader.judge.forecast import forecast
from grader.report import forecasts
from grader.results import Climb, load
from grader.workbook import topics
from grader.workbook.content import content_root

GEMM = load(content_root() / "measurements" / "h200" / "gemm.json", Climb)


def shown(view: RenderableType) -> str:
    """What a terminal of 80 columns without colour would show."""
    terminal = Console(width=80, color_system=None, highlight=False)
    with terminal.capture() as capture:
        terminal.print(view)
    text = capture.get()
    assert all(len(line) <= 80 for line in text.splitlines()), text
    return " ".join(text.split())


def test_the_order_of_rungs() -> None:
    assert kendall([1, 2, 3], [10, 20, 30]) == 1
    assert kendall([1, 2, 3], [3, 2, 1]) == -1
    assert kendall([1, 1], [1, 2]) == 1  # nothing but ties
    assert kendall([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(4 / 6)  # one of six pairs the other way round
    assert kendall([1, 2, 2], [1, 2, 3]) == pytest.approx(2 / 6**0.5)


def test_the_error_is_a_factor_whichever_way() -> None:
    items = [Pair("a", 1.0, 2.0), Pair("b", 1.0, 0.5), Pair("c", 3.0, 3.0)]
    found = error(items)
    assert found is not None
    assert (found.rungs, found.median, found.worst) == (3, 2.0, 2.0)
    assert order(items) == pytest.approx(2 / 6**0.5)  # a and b are a tie
    assert error([]) is None
    text = shown(forecasts.error(GEMM, items))
    assert "off by a factor of 2.00 (median), 2.00 (worst)" in text
    assert "2 s 0.5" not in text
    assert "Nothing was compared." in shown(forecasts.errors([], 0))


def test_only_measured_rungs_with_a_modelled_time_are_compared() -> None:
    first, second, third, *_ = GEMM.rungs
    record = replace(
        GEMM, rungs=[first, replace(second, time_source="modelled"), replace(third, time_s=None)]
    )
    assert [item.rung for item in pairs(record, {rung.id: 1.0 for rung in GEMM.rungs})] == [first.id]
    assert pairs(GEMM, {GEMM.rungs[0].id: None}) == []


def test_another_device_is_extrapolated_from_what_was_measured() -> None:
    first, second, third = GEMM.rungs[:3]
    rungs = [first, second, replace(third, time_s=None, time_source=None)]
    here = {rung.id: Modelled(1e-3, "dram") for rung in rungs}
    there = {
        first.id: Modelled(3e-3, "l1"),
        second.id: Modelled(reason="needs sm_80\nmore"),
        third.id: Modelled(2e-3),
    }
    found = what_if(rungs, here, there)
    assert found[0].extrapolated_s == pytest.approx(3 * (first.time_s or 0))
    assert found[1].extrapolated_s is None
    assert found[2].extrapolated_s == 2e-3  # nothing to scale: the modelled time itself
    text = shown(forecasts.what_if(GEMM, named("A100"), found))
    assert "gemm on NVIDIA A100, extrapolated" in text
    assert "does not run" in text
    assert "needs sm_80" in text
    assert "Nothing was measured on NVIDIA A100" in text


def test_a_forecast_needs_no_judging_and_knows_any_board() -> None:
    """A board that shares its architecture with the emulated one has multiprocessors and rates of its own."""
    topic = topics.load("transpose")
    rungs = (topic.rung("00_naive"), topic.rung("03_padded_tile"))
    topic = replace(topic, ladder=replace(topic.ladder, rungs=rungs))
    sizes = {"M": 4096, "N": 4096}
    ours, slower = (forecast(topic, named(name), sizes) for name in ("RTX 4090", "L4"))
    assert list(ours.rungs) == [rung.id for rung in topic.rungs]
    assert ours.problem == sizes
    for rung, found in ours.rungs.items():
        assert found.seconds
        assert found.limited_by
        # The L4's memory is 3.4 times slower by their datasheets, and the model's rates are near those.
        assert 1.5 < (slower.rungs[rung].seconds or 0) / found.seconds < 5
    assert ours.rungs["03_padded_tile"].seconds < ours.rungs["00_naive"].seconds


def test_what_an_architecture_cannot_do_has_a_reason() -> None:
    topic = topics.load("hgemm")
    alone = replace(topic, ladder=replace(topic.ladder, rungs=(topic.rung("06_cp_async"),)))
    (found,) = forecast(alone, named("T4")).rungs.values()
    assert found.seconds is None
    assert "sm_80" in (found.reason or "")
    assert "/" not in (found.reason or "").split("cp.async")[0]
