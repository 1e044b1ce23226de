"""Cases: what they are made of, and that they are the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from grader.errors import WarpladderError
from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseStore, compute, make
from grader.judge.kernels.case_runner import instruction_budget
from grader.workbook import topics

GEMM, TRANSPOSE = topics.load("gemm"), topics.load("transpose")
PROBLEM = {"M": 3, "N": 5, "K": 7}


def test_public_cases_are_both_kinds_of_every_size() -> None:
    found = cases.public(GEMM)
    assert len(found) == 2 * len(GEMM.judge_cases)
    assert [case.problem for case in found[::2]] == list(GEMM.judge_cases)
    assert {case.kind for case in found} == {"exact", "real"}
    assert not any(case.secret for case in found)


def test_secret_cases_have_another_seed() -> None:
    assert all(case.secret and case.seed == 77 and case.kind == "real" for case in cases.secret(GEMM, 77))


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
    monkeypatch.setattr(cases, "_memory", lambda: 2**20)
    compute(TRANSPOSE, make({"M": 64, "N": 64}, "exact"))
    with pytest.raises(WarpladderError, match="M=60000, N=64 needs some"):
        compute(TRANSPOSE, make({"M": 60000, "N": 64}, "exact"))


def test_a_store_computes_once() -> None:
    store, case = CaseStore(GEMM), make(PROBLEM, "real")
    assert store.get(case) is store.get(case)


def test_the_budget_grows_with_the_work() -> None:
    assert instruction_budget(GEMM, {"M": 1, "N": 1, "K": 1}) < 1_001_000
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
