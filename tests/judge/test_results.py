"""The public contract of --json, and the baselines that records name."""

from __future__ import annotations

import dataclasses
import json
from typing import get_type_hints

import msgspec
import numpy as np
import pytest

from grader import results
from grader.judge.child import baselines
from grader.judge.provenance import provenance
from grader.results import Climb, Device, Grade, Provenance, RungResult, from_json, to_json
from grader.workbook import topics

CLIMB = {"schema", "topic", "device", "problem", "provenance", "rungs", "baselines", "bound"}
RUNG = {
    *("id", "file", "verdict", "reason", "time_s", "time_source", "samples_s", "vs_naive", "vs_library"),
    *("vs_bound", "registers", "shared_bytes", "occupancy", "flop", "dram_bytes", "intensity", "counters"),
    *("counter_source", "claims"),
}
GRADE = {
    *("topic", "file", "verdict", "reason", "rung_reached", "points", "max_points", "cases", "findings"),
    *("claims", "hints"),
}
CASE = {"problem", "seed", "verdict", "error", "first_mismatch"}


def fields(kind: type) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


def test_what_the_contract_promises_is_there() -> None:
    assert fields(Climb) >= CLIMB
    assert fields(RungResult) >= RUNG
    assert fields(Grade) >= GRADE
    assert fields(results.CaseResult) >= CASE
    assert fields(results.ClaimResult) >= {"text", "held", "value"}
    assert fields(results.FindingResult) >= {"kind", "line", "message"}
    assert fields(results.Baseline) >= {"name", "time_s"}
    assert fields(results.Bound) >= {"time_s", "by"}


def test_what_was_not_measured_is_null() -> None:
    rung = RungResult("00_naive", "kernels/naive/x.cu", "error", "why")
    climb = Climb(
        "x", Device("emulator", "NVIDIA H200", "sm_90a"), {}, {}, Provenance("0", "3", "2"), [rung], [], None
    )
    (shown,) = json.loads(to_json(climb))["rungs"]
    assert all(shown[name] is None for name in RUNG - {"id", "file", "verdict", "reason", "claims"})
    assert from_json(to_json(climb), Climb) == climb


def test_json_of_another_shape_names_the_field() -> None:
    with pytest.raises(msgspec.ValidationError, match="topic"):
        from_json("{}", Climb)


def test_all_results_are_frozen() -> None:
    kinds = [item for item in vars(results).values() if dataclasses.is_dataclass(item)]
    assert len(kinds) > 10
    for kind in kinds:
        assert kind.__dataclass_params__.frozen
        assert get_type_hints(kind)


def test_provenance_tells_versions_and_no_places() -> None:
    found = provenance()
    assert found.driver is None
    assert found.numpy == np.__version__
    assert found.date is not None
    assert found.date.endswith("+00:00")
    assert "/" not in "".join(str(value) for value in dataclasses.asdict(found).values())


def test_baselines_do_the_topics_work() -> None:
    """CuPy's functions are NumPy's: the same calls, on small arrays that NumPy holds."""
    for name in ("gemm", "transpose"):
        topic = topics.load(name)
        problem = dict(zip(topic.sizes_main, (3, 5, 7), strict=False))
        inputs = topic.reference.make_inputs(problem, np.random.default_rng(1), "exact")
        expected = topic.reference.reference(inputs, problem)
        outputs = {key: np.zeros(value.shape, np.float32) for key, value in expected.items()}
        assert topic.library in baselines.TITLES
        baselines._ROUTINES[topic.library](np, *inputs.values(), *outputs.values())
        for key, value in expected.items():
            assert np.array_equal(outputs[key], value)
