"""What is installed for which driver, what is said where it cannot be, and what PyCUDA is compiled with."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader import gpu, gpu_setup
from grader.errors import WarpladderError
from grader.gpu import Gpu
from grader.workbook.content import content_root

L4 = Gpu("NVIDIA L4", (13, 0), None)

NVIDIA_SMI = """\
#!/bin/sh
if [ "$1" = -L ]; then
    echo "GPU 0: NVIDIA L4 (UUID: GPU-5a)"
    echo "GPU 1: NVIDIA T4 (UUID: GPU-5b)"
else
    echo "| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    {version} |"
fi
exit {status}
"""


def without_libcuda(monkeypatch: pytest.MonkeyPatch, folder: Path, version: str, status: int = 0) -> None:
    """A machine on which programs are answered by nvidia-smi alone."""

    def not_loaded(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    (folder / "nvidia-smi").write_text(NVIDIA_SMI.format(version=version, status=status))
    (folder / "nvidia-smi").chmod(0o755)
    monkeypatch.setattr(gpu.ctypes, "CDLL", not_loaded)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize(
    ("version", "cuda", "compiled_with"),
    [
        ("CUDA Version: 12.4", (12, 4), 12),
        ("CUDA Version: 13.0", (13, 0), 13),
        ("CUDA UMD Version: 14.1", (14, 1), 13),
    ],
)
def test_nvidia_smi_is_asked_where_the_library_cannot_be(
    version: str, cuda: tuple[int, int], compiled_with: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_libcuda(monkeypatch, tmp_path, version)
    found = gpu.find()
    assert found == Gpu("NVIDIA L4", cuda, None)
    assert found.compiled_with == compiled_with


def test_no_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_libcuda(monkeypatch, tmp_path, "CUDA Version: 13.0", status=9)
    assert gpu.find() is None
    assert gpu_setup.main() == 0
    assert capsys.readouterr().out == "No NVIDIA driver answers: kernels run on the emulator.\n"


def test_a_driver_that_is_too_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_libcuda(monkeypatch, tmp_path, "CUDA Version: 11.4")
    assert gpu_setup.main() == 1
    said = capsys.readouterr().out
    assert "knows CUDA 11.4, and 12.0 or later is needed" in said
    assert "install NVIDIA's driver" in said


@pytest.mark.parametrize("cuda", [12, 13])
def test_an_extra_has_packages_of_one_cuda(cuda: int) -> None:
    asked = gpu_setup.requirements(gpu_setup.EXTRAS[cuda])
    assert any(item.startswith("pycuda") for item in asked)
    assert any(item.startswith(f"cupy-cuda{cuda}x") for item in asked)
    [toolkit] = [item for item in asked if item.startswith("cuda-toolkit[")]
    assert f"]=={cuda}." in toolkit


def test_a_pycuda_that_is_there_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = recorded(monkeypatch)
    gpu_setup.install(L4)
    assert [command[3] for command in commands if command[1:3] == ("-m", "pip")] == ["uninstall", "install"]
    assert "cupy-cuda12x" in commands[0]
    assert not any("pycuda" in argument for argument in commands[1])


def test_what_cannot_be_compiled_has_one_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(monkeypatch, pycuda="ModuleNotFoundError: No module named 'pycuda'")
    monkeypatch.setattr(gpu_setup, "missing", lambda: ["g++", "python3.12-dev"])
    monkeypatch.setattr(gpu_setup, "again", lambda: "make gpu")
    monkeypatch.setattr(gpu_setup.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(gpu_setup.shutil, "which", lambda name: name)
    with pytest.raises(WarpladderError, match=r"without g\+\+ and python3.12-dev") as caught:
        gpu_setup.install(L4)
    assert caught.value.remedy == "sudo apt-get install g++ python3.12-dev && make gpu"


@pytest.mark.parametrize(
    ("error", "there"),
    [
        ("", True),
        ("ImportError: libcuda.so.1: cannot open shared object file", True),
        ("ImportError: undefined symbol: cuCtxCreate_v4", False),
        ("ImportError: libcurand.so.10: cannot open shared object file", False),
    ],
)
def test_a_pycuda_that_does_not_suit_the_driver_counts_as_none(
    error: str, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(monkeypatch, pycuda=error)
    assert gpu_setup._has_pycuda() == there


def test_the_first_error_of_a_build_is_quoted(tmp_path: Path) -> None:
    log = tmp_path / "pycuda.log"
    log.write_text(
        "g++ -c a.cpp\n  src/cuda.hpp:14:10: fatal error: cuda.h: No such file\n  error: command failed\n"
    )
    assert gpu_setup._first_error(log) == "fatal error: cuda.h: No such file"
    log.write_text("")
    assert gpu_setup._first_error(log) == "see the end of the log"


def recorded(monkeypatch: pytest.MonkeyPatch, pycuda: str = "") -> list[tuple[str, ...]]:
    """The commands that set-up runs from now on; all succeed, and importing PyCUDA says `pycuda`."""
    commands = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(tuple(command))
        error = pycuda if command[1] == "-c" else ""
        return subprocess.CompletedProcess(command, returncode=1 if error else 0, stdout="", stderr=error)

    monkeypatch.setattr(gpu_setup.subprocess, "run", run)
    return commands


def test_pycuda_finds_the_wheels_as_a_toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cuda_runtime/include/cuda.h", "cuda_nvcc/include/crt/mma.h", "curand/lib/libcurand.so.10",
                 "cuda_profiler_api/include/cudaProfiler.h", "curand/include/curand.h"):  # fmt: skip
        file = tmp_path / "site" / "nvidia" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    (tmp_path / "laid").mkdir()
    metadata = tmp_path / "site" / "cuda_toolkit-12.9.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: cuda-toolkit\nVersion: 12.9\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    recorded(monkeypatch)
    environment = gpu_setup._lay_out_toolkit(tmp_path / "laid", 12)
    assert environment["PATH"].startswith(str(tmp_path / "laid" / "bin"))
    assert (tmp_path / "laid" / "bin" / "nvcc").exists()
    include = tmp_path / "laid" / "include"
    assert sorted(item.name for item in include.iterdir()) == ["crt", "cuda.h", "cudaProfiler.h", "curand.h"]
    assert (include / "crt" / "mma.h").read_text().endswith("mma.h")
    assert (tmp_path / "laid" / "lib" / "libcurand.so").exists()
    assert "$ORIGIN/../nvidia/curand/lib" in environment["LDFLAGS"]


def test_the_command_that_runs_set_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = tmp_path.resolve()
    monkeypatch.setattr(gpu_setup, "_CLONE", clone)
    assert gpu_setup.again() == f"{sys.executable} -m grader.gpu_setup"
    monkeypatch.setattr(gpu_setup.sys, "prefix", str(clone / ".venv"))
    assert gpu_setup.again() == f"make -C {clone} gpu"
    monkeypatch.chdir(clone)
    assert gpu_setup.again() == "make gpu"


def test_nothing_says_to_install_from_an_index_what_is_on_none() -> None:
    """Warpladder is installed from a clone or a wheel; `pip install warpladder` finds no such distribution."""
    root = content_root()
    files = [*root.glob("*.md")]
    for folder in ("book", "docs", "grader", "lessons", "notebooks"):
        files += [path for path in (root / folder).rglob("*") if path.suffix in (".md", ".py")]
    said = re.compile(r"pip install[^\n`]*[ '\"]warpladder\b[^\n]*")
    assert [str(path) for path in files if said.search(path.read_text("utf-8"))] == []
