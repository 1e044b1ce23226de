"""`ladder doctor` finds what is there and says how to mend what is not."""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path

import pytest

from grader import cuda, doctor, gpu, gpu_setup
from grader.emulator.nvrtc import compilation
from grader.errors import WarpladderError
from grader.gpu import Gpu
from grader.ladder import app
from grader.sandbox import means
from grader.sandbox.means import Means


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
    def not_found(version: int = compilation.PINNED) -> None:
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
    for name in ("pycuda", "pycuda.driver"):  # which may be imported already
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(gpu_setup, "again", lambda: "make gpu")
    monkeypatch.setattr(gpu_setup, "missing", list)
    for found, remedy in ((None, None), (Gpu("NVIDIA L4", (13, 0), (8, 9)), "make gpu")):
        monkeypatch.setattr(gpu, "find", lambda found=found: found)
        check = by_name(doctor.examine())["pycuda"]
        assert (check.state, check.remedy) == ("missing", remedy)


@pytest.mark.parametrize(
    ("found", "state", "said"),
    [
        (Gpu("NVIDIA L4", (12, 4), (8, 9)), "ok", "NVIDIA L4, CUDA 12.4"),
        (Gpu("Tesla K80", (11, 4), (3, 7)), "broken", "CUDA 11.4, and 12.0 or later is needed"),
        (Gpu("NVIDIA L4", (12, 4), None), "broken", "libcuda.so.1 cannot be loaded"),
        (WarpladderError("the driver finds no GPU"), "broken", "finds no GPU"),
        (None, "missing", "no NVIDIA driver"),
    ],
)
def test_what_there_is_of_a_gpu(
    found: Gpu | WarpladderError | None, state: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find() -> Gpu | None:
        if isinstance(found, WarpladderError):
            raise found
        return found

    monkeypatch.setattr(gpu, "find", find)
    checks = by_name(doctor.examine())
    assert checks["GPU"].state == state
    assert said in checks["GPU"].found
    older = isinstance(found, Gpu) and found.cuda[0] == 12
    assert ("NVRTC 12" in checks, "cupy-cuda12x" in checks, "cupy-cuda13x" in checks) == (
        older,
        older,
        not older,
    )


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("crt", "missing headers: crt/mma.h of nvidia-cuda-crt"),
        ("mma.h", "missing headers: mma.h of nvidia-cuda-runtime"),
    ],
)
def test_a_missing_header_is_found_before_a_rung_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str, said: str
) -> None:
    """The headers of one wheel may be gone, and NVRTC itself be there."""
    whole = compilation.find_toolkit()
    for header in whole.includes[1].iterdir():
        if header.name != gone:
            (tmp_path / header.name).symlink_to(header)
    toolkit = dataclasses.replace(whole, includes=(whole.includes[0], tmp_path, *whole.includes[2:]))
    monkeypatch.setattr(compilation, "find_toolkit", lambda version=compilation.PINNED: toolkit)
    diagnosis = doctor.examine()
    check = by_name(diagnosis)["NVRTC"]
    assert not diagnosis.usable
    assert check.state == "broken"
    assert check.found == said
    assert said.split()[-1] in (check.remedy or "")


@pytest.mark.parametrize(
    ("has", "state", "found"),
    [
        (
            Means("/usr/bin/bwrap", 7, True, True),
            "ok",
            "bubblewrap, Landlock 7, seccomp, limits. .* none of your files",
        ),
        (Means("", 3, True, False), "ok", "Landlock 3, seccomp, limits. .* none of your files"),
        (
            Means("", 0, True, True),
            "missing",
            "another user, seccomp, limits. .* may read what every user may",
        ),
        (
            Means("", 0, True, False),
            "missing",
            "seccomp, limits. .* may read what you may, write nothing",
        ),
        (
            Means("", 0, False, False),
            "missing",
            "limits alone. .* may read what you may, use the network, write files and end processes as you may",
        ),
    ],
)
def test_the_protection_in_force_is_said(
    has: Means, state: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(means, "means", lambda: has)
    check = doctor._sandbox()
    assert check.state == state
    assert re.match(found, check.found), check.found
    assert (check.remedy is None) == (state == "ok")


def test_a_grade_says_once_that_limits_are_all_there_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for has, times in (
        (Means("", 0, True, False), 1),
        (Means("", 0, True, True), 0),
        (Means("", 3, True, False), 0),
    ):
        monkeypatch.setattr(means, "means", lambda has=has: has)
        with pytest.raises(WarpladderError):
            app(["grade", "transpose", "/no/such/file.cu"], standalone_mode=False)
        assert capsys.readouterr().err.count("Little confines what is graded here") == times
