"""Set-up where nvidia-smi answers and no CUDA toolkit is in sight ends in a climb, with a C++ compiler and without."""

from __future__ import annotations

import ctypes.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from clones import copied_to

from grader.emulator.cache import cache_folder

DRIVER = ctypes.util.find_library("cuda")

# One group: what one of them downloads, the others find in pip's cache.
pytestmark = [
    pytest.mark.soak(area="setup"),
    pytest.mark.timeout(1800),
    pytest.mark.xdist_group("gpu_setup"),
    pytest.mark.skipif(
        DRIVER is not None, reason="the driver of this machine would answer, and not the tests'"
    ),
]

TOOLS = ("bash", "sh", "make", "touch")
COMPILER = ("g++", "as", "ld", "nm")

NVIDIA_SMI = """\
#!/bin/sh
if [ "$1" = -L ]; then
    echo "GPU 0: NVIDIA L4 (UUID: GPU-0)"
else
    echo "| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: {cuda}  |"
fi
"""

COMPILES_EVERY_TOPIC = """
from grader.workbook import compiler, topics
for topic in topics.discover().values():
    file = topic.kernel_files[-1]
    built = compiler.compile_source(file.source, file=file.path, kernels=file.kernels, arch="sm_90a", cuda={cuda})
    assert built.cubin.startswith(b"\\x7fELF"), topic.name
"""


@dataclass(frozen=True)
class Machine:
    """A clean copy of the clone, and the environment of a machine with this driver and these tools alone."""

    clone: Path
    environment: Mapping[str, str]

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **more}
        return subprocess.run(
            command, cwd=self.clone, env=environment, capture_output=True, text=True, check=False
        )


def machine(folder: Path, cuda: str, tools: tuple[str, ...], cache: Path) -> Machine:
    clone, programs = folder / "clone", folder / "bin"
    programs.mkdir()
    for tool in tools:
        found = shutil.which(tool)
        if found is None:
            pytest.skip(f"{tool} is not on this machine")
        (programs / tool).symlink_to(found)
    (programs / "nvidia-smi").write_text(NVIDIA_SMI.format(cuda=cuda))
    (programs / "nvidia-smi").chmod(0o755)
    copied_to(clone)
    seen = re.compile(r"CUDA_|CXX|CC$|.*_PATH|PYTHONPATH|LDFLAGS|VIRTUAL_ENV|PYTEST|MAKE|MFLAGS")
    kept = {name: value for name, value in os.environ.items() if not seen.match(name)}
    python = getattr(sys, "_base_executable", sys.executable)
    # PyCUDA is compiled to be imported, not to be fast.
    quick = {"CFLAGS": "-O0", "CXXFLAGS": "-O0"}
    own = {"PATH": str(programs), "PYTHON": python, "WARPLADDER_CACHE": str(cache)}
    return Machine(clone, {**kept, **quick, **own})


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    shutil.rmtree(tmp_path / "clone" / ".venv", ignore_errors=True)  # gigabytes, which pytest would keep


def climbed(here: Machine) -> str:
    done = here.run("make", "climb", "TOPICS=transpose")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"✓ 05_float4_tile", done.stdout)
    return done.stdout


def test_without_a_compiler_the_ladder_climbs_and_doctor_knows_the_remedy(folder: Path) -> None:
    here = machine(folder, "13.0", TOOLS, cache=folder / "cache")
    said = climbed(here)
    assert "PyCUDA cannot be compiled without g++" in said
    doctor = here.run(".venv/bin/ladder", "doctor")
    assert doctor.returncode == 0
    assert re.search(r"pycuda\s+not installed\s[^✓]*→ install g\+\+ [^✓]*then:\s+make gpu", doctor.stdout)
    assert here.run("make", "gpu").returncode != 0


@pytest.mark.parametrize("cuda", ["12.4", "13.0"])
def test_with_a_compiler_pycuda_is_made_for_the_driver(folder: Path, cuda: str) -> None:
    here = machine(folder, cuda, TOOLS + COMPILER, cache=cache_folder())
    assert "Compiling PyCUDA" in climbed(here)
    again = here.run("make", "gpu")
    assert again.returncode == 0
    assert "Compiling PyCUDA" not in again.stdout
    driver = a_driver(here, folder)
    version = here.run(
        ".venv/bin/python",
        "-c",
        "import pycuda.driver as d; print(d.get_version()[0])",
        LD_LIBRARY_PATH=driver,
    )
    assert version.stdout.strip() == cuda[:2], version.stderr
    compiled = here.run(".venv/bin/python", "-c", COMPILES_EVERY_TOPIC.format(cuda=cuda[:2]))
    assert compiled.returncode == 0, compiled.stderr


def a_driver(here: Machine, folder: Path) -> str:
    """The folder of a library that has every function which PyCUDA takes from the driver."""
    [extension] = here.clone.glob(".venv/lib/python*/site-packages/pycuda/_driver*.so")
    symbols = here.run("nm", "-D", "--undefined-only", str(extension)).stdout
    source = "".join(
        f'extern "C" int {name}() {{ return 100; }}\n' for name in re.findall(r"U (cu[A-Z]\w+)", symbols)
    )
    library = folder / "driver" / "libcuda.so.1"
    library.parent.mkdir()
    subprocess.run(
        ["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)], input=source, text=True, check=True
    )
    return str(library.parent)
