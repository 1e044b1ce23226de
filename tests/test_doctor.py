"""`ladder doctor` finds what is there and says how to mend what is not."""

from __future__ import annotations

import sys

import pytest

from grader import cuda, doctor
from grader.emulator.nvrtc import compilation


def by_name(diagnosis: doctor.Diagnosis) -> dict[str, doctor.Check]:
    return {check.name: check for check in diagnosis.checks}


def test_a_working_installation() -> None:
    diagnosis = doctor.examine()
    assert diagnosis.usable
    checks = by_name(diagnosis)
    for name in ("Python", "numpy", "llvmlite", "numba", "NVRTC", "emulator"):
        assert checks[name].state == "ok", checks[name]
    assert all(check.remedy is None for check in diagnosis.checks if check.state == "ok")
    assert diagnosis.device == ("emulator" if cuda.gpu_problem() else "gpu")


def test_what_is_missing_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_found() -> None:
        raise compilation.NvrtcNotFound("NVRTC 13 is not installed")

    monkeypatch.setattr(compilation, "find_toolkit", not_found)
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.setenv("WARPLADDER_CACHE", "/proc/no/such/folder")
    diagnosis = doctor.examine()
    assert not diagnosis.usable
    checks = by_name(diagnosis)
    assert checks["NVRTC"].state == "missing"
    assert checks["llvmlite"].state == "broken"
    assert checks["emulator"].state == "broken"
    assert checks["cache"].state == "broken"
    assert "Errno" not in checks["cache"].found
    assert "WARPLADDER_CACHE" in (checks["cache"].remedy or "")
    assert all(check.remedy for check in diagnosis.checks if check.required and check.state != "ok")


def test_packages_for_a_gpu_need_mending_only_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycuda", None)
    without, with_gpu = ("missing", None), ("ok", "pip install 'warpladder[gpu]'")
    for state, remedy in (without, with_gpu):
        gpu = doctor.Check("GPU", state, "", "measured times", required=False)  # type: ignore[arg-type]
        check = doctor._gpu_package("pycuda", "pycuda.driver", "GPUs", gpu)
        assert (check.state, check.remedy) == ("missing", remedy)
