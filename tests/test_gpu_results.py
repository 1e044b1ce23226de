"""benchmarks/gpu_results.py, which holds what the emulator computes against what a GPU computes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import gpu_results
import numpy as np
import pytest
from numerics.case import Case, Group
from typer.testing import CliRunner, Result

SOURCE = """extern "C" __global__ void doubled(float* out, const float* in) {
  out[threadIdx.x] = 2 * in[threadIdx.x];
}"""


@pytest.fixture
def group(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A group of one case, whose results have to be equal, and one that may be rounded."""
    values = np.arange(32, dtype=np.float32)
    arrays = {"in": values, "out": np.zeros_like(values)}
    exact = Case("exact", "doubled", SOURCE, ("out", "in"), arrays)
    near = Case("near", "doubled", SOURCE, ("out", "in"), arrays, share=2.0**-10, sizes=arrays)
    group = Group("small", "", (exact, near))
    monkeypatch.setattr(gpu_results, "GROUPS", {"small": lambda: group})
    return SimpleNamespace(values=values)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(gpu_results.app, [str(item) for item in arguments])


def changed(file: Path, to: Path, case: str, by: float) -> Path:
    """The results with the last element of a case multiplied."""
    results = dict(np.load(file))
    results[f"small/{case}"][-1] *= np.float32(1 + by)
    np.savez(to, **results)
    return to


def test_the_emulators_results_are_kept_and_equal_themselves(group: SimpleNamespace, tmp_path: Path) -> None:
    file = tmp_path / "emulated.npz"
    assert run("capture", file, "small").exit_code == 0
    np.testing.assert_array_equal(np.load(file)["small/exact"], 2 * group.values)
    same = run("compare", file, file)
    assert same.exit_code == 0
    assert "bit for bit 1 of 1, within rounding 1 of 1" in same.output


@pytest.mark.parametrize(
    ("case", "by", "holds"), [("exact", 2.0**-20, False), ("near", 2.0**-11, True), ("near", 2.0**-9, False)]
)
def test_a_difference_is_shown_unless_rounding_explains_it(
    case: str, by: float, holds: bool, group: SimpleNamespace, tmp_path: Path
) -> None:
    file = tmp_path / "emulated.npz"
    run("capture", file, "small")
    compared = run("compare", changed(file, tmp_path / "gpu.npz", case, by), file)
    assert compared.exit_code == (0 if holds else 1)
    assert ("BAD" in compared.output) != holds


def test_a_case_that_was_not_run_is_wrong(group: SimpleNamespace, tmp_path: Path) -> None:
    file, part = tmp_path / "emulated.npz", tmp_path / "gpu.npz"
    run("capture", file, "small")
    np.savez(part, **{"small/exact": np.load(file)["small/exact"]})
    assert "not run on both devices" in run("compare", part, file).output
