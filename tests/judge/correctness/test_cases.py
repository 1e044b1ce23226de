"""Cases: what they are made of, and that they are the same every time."""

from __future__ import annotations

import threading
import time
import warnings
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from grader.errors import WarpladderError
from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case, CaseData, CaseStore, compute, make
from grader.judge.correctness.guards import POISON
from grader.judge.correctness.verdict import LONG_ROWS, of_comparison
from grader.judge.kernels.case_runner import instruction_budget
from grader.workbook import topics
from grader.workbook.reference import Reference, mistake
from grader.workbook.topic import Topic

GEMM, TRANSPOSE = topics.load("gemm"), topics.load("transpose")
PROBLEM = {"M": 3, "N": 5, "K": 7}


def test_public_cases_are_both_kinds_of_every_size() -> None:
    every = cases.public(GEMM)
    found = [case for case in every if case.kind != "special"]
    assert len(found) == 2 * len(GEMM.judge_cases)
    assert [case.problem for case in found[::2]] == list(GEMM.judge_cases)
    assert {case.kind for case in found} == {"exact", "real"}
    assert not any(case.secret for case in every)


def test_the_largest_sizes_come_with_special_values_as_well() -> None:
    found = [case for case in cases.public(GEMM) if case.kind == "special"]
    assert len(found) == cases.SPECIAL_SIZES
    for case in found:
        data = compute(GEMM, case)
        finite = np.isfinite(data.expected["C"]).mean()
        assert 0.5 < finite < 1.0
        right = data.expected["C"].astype(np.float32)
        assert data.compare("C", right).right
        assert not data.compare("C", np.nan_to_num(right)).right


@pytest.mark.parametrize("name", ["block_sum", "reduce"])
def test_a_sum_is_tried_on_each_kind_of_special_values(name: str) -> None:
    topic = topics.load(name)
    inputs = [compute(topic, case).inputs["in"] for case in cases.public(topic) if case.kind == "special"]
    sums = {(bool(np.isnan(found).any()), *np.unique(found[np.isinf(found)]).tolist()) for found in inputs}
    assert sums == {(True,), (False, np.inf), (False, -np.inf), (False, -np.inf, np.inf), (False,)}
    sizes = [np.abs(found[found != 0]) for found in inputs if np.isfinite(found).all()]
    assert any((found < np.finfo(np.float32).tiny).all() for found in sizes)
    assert any((found > 2.0**64).any() for found in sizes)


@pytest.mark.parametrize("name", ["block_sum", "reduce", "reduce2d"])
def test_special_cases_of_sums_have_what_is_not_finite_and_subnormals(name: str) -> None:
    topic = topics.load(name)
    cases_of = [case for case in cases.public(topic) if case.kind == "special"]
    found = np.concatenate([compute(topic, case).inputs["in"].ravel() for case in cases_of])
    assert not np.isfinite(found).all()
    assert ((found != 0) & (np.abs(found) < np.finfo(np.float32).tiny)).any()


def special_cases(name: str) -> list[CaseData]:
    topic = topics.load(name)
    return [compute(topic, case) for case in cases.public(topic) if case.kind == "special"]


@pytest.mark.parametrize(
    ("name", "left", "right"), [("gemm", "A", "B"), ("hgemm", "A", "B"), ("gemv", "W", "x")]
)
def test_packs_of_zeros_are_not_skipped(name: str, left: str, right: str) -> None:
    """What is NaN or infinite beside them makes NaN of a product."""
    refused, pack = [], 8
    for data in special_cases(name):
        a, b = (data.inputs[factor].astype(np.float64) for factor in (left, right))
        keep = np.ones(a.shape, bool)
        whole = a.shape[1] // pack * pack
        packs = a[:, :whole].reshape(len(a), -1, pack)
        keep[:, :whole] = np.repeat(packs.any(axis=2), pack, axis=1)
        with np.errstate(invalid="ignore"):
            product = np.stack([row[kept] @ b[kept] for row, kept in zip(a, keep, strict=True)])
        (due,) = data.expected.values()
        refused.append((np.isnan(due) & ~np.isnan(product)).any())
    assert any(refused)


def test_weights_and_scales_of_zero_make_nan_of_a_nan() -> None:
    ((words, scales, place),) = (
        (data.inputs["W"], data.inputs["scales"], int(np.flatnonzero(np.isnan(data.inputs["x"]))[0]))
        for data in special_cases("gemv_int4")
        if np.isnan(data.inputs["x"]).any()
    )
    nibbles = words[:, place // 8] >> np.uint32(4 * (place % 8)) & np.uint32(15)
    of_group = scales[:, place // 128]
    assert ((nibbles == 8) & (of_group != 0)).any()
    assert ((nibbles != 8) & (of_group == 0)).any()


def test_a_filter_of_zeros_makes_nan_of_what_is_not_finite() -> None:
    for data in special_cases("conv2d"):
        zero = ~data.inputs["w"].any(axis=(1, 2, 3))
        assert zero.any()
        assert np.isnan(data.expected["y"][:, zero]).any()


def test_gamma_of_nan_makes_nan_of_constant_rows() -> None:
    for name, gives in (
        ("layernorm", lambda x: np.ptp(x, axis=1)),
        ("rmsnorm", lambda x: np.abs(x).max(axis=1)),
    ):
        found = []
        for data in special_cases(name):
            x, gamma = (data.inputs[key].astype(np.float64) for key in ("x", "gamma"))
            assert np.isnan(gamma).any() or len(gamma) == 1
            found.append((gives(x) == 0).any())
        assert any(found)


def test_gradients_have_zeros_of_gamma_and_nan_beside_a_dy_of_zero() -> None:
    for data in special_cases("layernorm_backward"):
        x, dy, gamma = (data.inputs[name] for name in ("x", "dy", "gamma"))
        assert (gamma == 0).any()
        columns = np.isnan(x[~dy.any(axis=1)]).any(axis=0)
        assert columns.any() or len(x) == 1
        assert np.isnan(data.expected["dgamma"][columns]).all()
    real = compute(topics.load("layernorm_backward"), make({"M": 2, "N": 4096}, "real"))
    assert (real.inputs["gamma"] == 0).any()


def test_a_softmax_of_nearly_equal_logits_is_not_uniform() -> None:
    topic = topics.load("softmax")
    refused = set()
    for columns in (33, 101):
        data = compute(topic, make({"M": 67, "N": columns}, "real"))
        with np.errstate(invalid="ignore"):
            equal = np.ptp(data.inputs["in"], axis=1, keepdims=True) < 1e-3
        uniform = np.where(equal, 1 / columns, data.expected["out"]).astype(np.float32)
        refused.add(data.compare("out", uniform).right)
    assert refused == {False}


def test_what_is_moved_keeps_every_bit() -> None:
    topic = topics.load("transpose")
    data = compute(topic, cases.make({"M": 33, "N": 65}, "special"))
    out = np.ascontiguousarray(data.inputs["in"].T)
    assert data.compare("out", out).right
    with np.errstate(invalid="ignore"):
        assert not data.compare("out", out + np.float32(0)).right
    flushed = np.where(np.abs(out) < np.finfo(np.float32).tiny, np.float32(0), out)
    assert not data.compare("out", flushed).right


def test_whole_numbers_are_equal_or_not() -> None:
    data = compute(topics.load("histogram"), make({"N": 257}, "real"))
    right = data.expected["bins"]
    assert right.dtype == np.uint32
    assert data.compare("bins", right).right
    off = right.copy()
    off[7] += 1
    wrong = data.compare("bins", off)
    assert (wrong.right, wrong.advice) == (False, cases.SUMS_ARE_EXACT)


def test_sums_of_halves_are_exact_in_single_precision_alone() -> None:
    data = compute(topics.load("gemv"), make({"N": 65, "K": 3}, "exact"))
    right = data.expected["y"]
    for off, advice in (
        (np.abs(right).max() / 2, cases.EXACT_IN_SINGLE),
        (2 * np.abs(right).max(), cases.NO_ROUNDING),
        (np.inf, cases.EXACT_IN_SINGLE),
    ):
        assert data.compare("y", (right + off).astype(right.dtype)).advice == advice


def test_what_is_finite_in_a_special_case_is_a_matter_of_range() -> None:
    case = next(case for case in cases.public(GEMM) if case.kind == "special")
    data = compute(GEMM, case)
    right = data.expected["C"].astype(np.float32)
    finite = np.isfinite(right)
    assert data.compare("C", np.where(finite, -right - 1, right)).advice == cases.RANGE
    assert data.compare("C", np.where(finite, right, 0)).advice == cases.SPECIAL_VALUES
    assert data.compare("C", np.where(np.isinf(right), np.nan, right)).advice == cases.SPECIAL_VALUES


def test_almost_nothing_in_the_place_of_nothing_is_no_rounding() -> None:
    data = compute(topics.load("softmax"), make({"M": 3, "N": 101}, "exact"))
    right = data.expected["out"].astype(np.float32)
    assert data.compare("out", np.maximum(right, np.float32(1e-35))).advice == cases.NO_ZERO


def test_no_index_is_behind_what_may_be_rounding() -> None:
    data = compute(topics.load("stencil"), make({"N": 1031}, "real"))
    right = data.expected["out"].astype(np.float32)
    near = right.copy()
    near[254:258] *= np.float32(1 + 1e-4)
    far = right.copy()
    far[254:258] = 0.125
    assert data.compare("out", near, block=256).fits == ()
    assert "block's edge" in " ".join(data.compare("out", far, block=256).fits)


def test_differences_that_overflow_are_no_warning() -> None:
    """Halves that are as far apart as halves are."""
    right = np.full(64, 60_000, np.float16)
    data = CaseData({}, {"y": right}, {"y": np.ones(64)}, "", kind="exact")
    with warnings.catch_warnings(action="error"):
        assert not data.compare("y", -right).right


def test_rounding_is_decided_on_public_data() -> None:
    """A case from another seed is wrong by a gross error alone."""
    public, other = (compute(GEMM, make(PROBLEM, "real", seed)) for seed in (cases.PUBLIC_SEED, 77))
    for data, passes in ((public, False), (other, True)):
        allowed = data.allowed["C"]
        assert allowed is not None
        assert data.compare("C", data.expected["C"] + 2 * allowed).right is passes
        assert not data.compare("C", data.expected["C"] + 2 * cases.GROSS * allowed).right


def test_secret_cases_have_another_seed() -> None:
    assert all(case.secret and case.seed == 77 for case in cases.secret(GEMM, 77))


def test_a_grade_draws_sizes_of_its_own_and_says_what_sets_them_apart() -> None:
    topic = topics.load("conv2d")
    own, drawn = (
        [case for case in cases.secret(topic, 77) if case.kind == kind] for kind in ("real", "exact")
    )
    assert tuple(case.problem for case in own) == topic.judge_cases
    assert len(drawn) == len(topic.drawn_cases)
    for case, ends in zip(drawn, topic.drawn_cases, strict=True):
        assert all(ends[name][0] <= size <= ends[name][1] for name, size in case.problem.items())
    assert drawn != [case for case in cases.secret(topic, 78) if case.kind == "exact"]
    assert [cases.unlike(topic, case) for case in own] == [""] * len(own)
    assert "with smaller `pad`" in cases.unlike(topic, drawn[0])
    assert "with smaller `stride`" in cases.unlike(topic, drawn[2])
    usual = cases.make({**topic.judge_cases[3], "C": 4}, "exact", 77, secret=True)
    assert "with other sizes" in cases.unlike(topic, usual)


def test_the_same_case_has_the_same_data() -> None:
    one, two = (compute(GEMM, make(PROBLEM, "real", 5)) for _ in range(2))
    assert np.array_equal(one.inputs["A"], two.inputs["A"])
    assert not np.array_equal(one.inputs["A"], compute(GEMM, make(PROBLEM, "real", 6)).inputs["A"])


def test_exact_cases_ask_for_equality_and_real_ones_do_not() -> None:
    assert compute(GEMM, make(PROBLEM, "exact")).allowed == {"C": None}
    allowed = compute(GEMM, make(PROBLEM, "real")).allowed["C"]
    assert allowed is not None
    assert allowed.shape == (3, 5)
    assert (allowed > 0).all()
    assert compute(TRANSPOSE, make({"M": 3, "N": 5}, "real")).allowed == {"out": None}


def test_one_dropped_term_is_more_than_an_exact_case_allows() -> None:
    data = compute(GEMM, make({"M": 2, "N": 2, "K": 500}, "exact"))
    a, b = data.inputs["A"], data.inputs["B"]
    short = a[:, :-1].astype(np.float32) @ b[:-1].astype(np.float32)
    assert (short != data.expected["C"]).all()


def test_inputs_cannot_be_changed_by_mistake() -> None:
    data = compute(GEMM, make(PROBLEM, "real"))
    with pytest.raises(ValueError, match="read-only"):
        data.inputs["A"][0, 0] = 1


def test_what_memory_does_not_hold_is_refused_before_it_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "memory_bytes", lambda: 2**20)
    compute(TRANSPOSE, make({"M": 64, "N": 64}, "exact"))
    with pytest.raises(WarpladderError, match="M=60000, N=64 needs some"):
        compute(TRANSPOSE, make({"M": 60000, "N": 64}, "exact"))


def test_a_store_computes_once() -> None:
    store, case = CaseStore(GEMM), make(PROBLEM, "real")
    assert store.get(case) is store.get(case)


def test_a_store_computes_ahead_and_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[Case] = []
    monkeypatch.setattr(cases, "compute", lambda topic, case: computed.append(case) or compute(topic, case))
    listed = [make(PROBLEM, "real", seed) for seed in range(3)]
    store = CaseStore(GEMM)
    with store.ahead(listed):
        store.get(listed[0])
        deadline = time.monotonic() + 60
        while len(computed) < 3 and time.monotonic() < deadline:
            time.sleep(0.001)
    assert computed == listed
    assert store.get(listed[2]) is store.get(listed[2])
    assert computed == listed


def test_what_is_not_wanted_any_more_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    computed: list[Case] = []

    def slowly(topic: Topic, case: Case) -> CaseData:
        computed.append(case)
        begun.set()
        assert go_on.wait(60)
        return compute(topic, case)

    monkeypatch.setattr(cases, "compute", slowly)
    with CaseStore(GEMM).ahead([make(PROBLEM, "real", seed) for seed in range(100)]):
        assert begun.wait(60)
        threading.Timer(0.05, go_on.set).start()
    assert len(computed) == 1


def test_the_budget_grows_with_the_work() -> None:
    assert instruction_budget(GEMM, {"M": 1, "N": 1, "K": 1}) < 64_001_000
    cube = {"M": 512, "N": 512, "K": 512}
    assert instruction_budget(GEMM, cube) > 10 * 512**3


def test_a_yardstick_stands_beside_real_cases() -> None:
    reduce = topics.load("reduce")
    store = CaseStore(reduce)
    assert store.yardstick_error(make({"N": 1000}, "exact")) is None
    error = store.yardstick_error(make({"N": 1000}, "real"))
    assert error is not None
    assert 0 < error < 0.2
    assert CaseStore(GEMM).yardstick_error(make(PROBLEM, "real")) is None


def test_a_wrong_output_comes_with_the_mistake_that_the_topic_knows() -> None:
    data = compute(topics.load("softmax"), make({"M": 37, "N": 1}, "real"))
    assert data.compare("out", data.expected["out"].astype(np.float32)).mistake is None
    with np.errstate(over="ignore", invalid="ignore"):
        terms = np.exp(data.inputs["in"])
        found = data.compare("out", terms / terms)
    assert found.mistake is not None
    refused = of_comparison(found, data.advice, {"M": 37, "N": 1})
    assert refused is not None
    assert refused.reason.endswith(found.mistake)


def test_what_a_topic_says_of_mistakes_never_fails_the_judge() -> None:
    fails = SimpleNamespace(mistake=lambda inputs, outputs, problem: 1 // 0)
    for reference in fails, SimpleNamespace():
        assert mistake(cast(Reference, reference), {}, {}, {}) is None


def test_right_outputs_are_not_asked_for_their_mistake() -> None:
    asked: list[str] = []

    def ask(outputs: dict[str, np.ndarray]) -> None:
        asked.extend(outputs)

    data = replace(compute(GEMM, make(PROBLEM, "exact")), mistake=ask)
    right = data.expected["C"].astype(np.float32)
    assert data.compare("C", right).right
    assert not asked
    data.compare("C", right + 1)
    assert asked == ["C"]


def test_exact_cases_of_a_softmax_leave_room_for_the_last_bits_and_no_term_more() -> None:
    data = compute(topics.load("softmax"), make({"M": 3, "N": 40000}, "exact"))
    right = data.expected["out"].astype(np.float32)
    assert data.compare("out", right * np.float32(1 + 30 * 2**-24)).right
    assert not data.compare("out", (right * (1 - 2.0**-15)).astype(np.float32)).right


def test_columns_behind_as_many_as_a_block_has_threads_are_told() -> None:
    data = compute(topics.load("softmax"), make({"M": 3, "N": 40}, "exact"))
    out = data.expected["out"].astype(np.float32)
    out[:, 32:].view(np.uint32)[:] = POISON
    assert data.compare("out", out, 32).fits == (LONG_ROWS,)
    assert LONG_ROWS not in data.compare("out", out, 64).fits
