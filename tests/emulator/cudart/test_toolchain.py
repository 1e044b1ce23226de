"""Which nvcc compiles: that of the wheels; for this machine's GPU, where there are no wheels, one in the PATH."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from grader import doctor, gpu, run
from grader.emulator.cudart import toolchain
from grader.errors import WarpladderError

FAKE = """#!{python}
import json, pathlib, sys
target = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
target.write_text("#!/bin/sh\\necho compiled with: $*\\nexit 7\\n")
target.chmod(0o755)
pathlib.Path({log!r}).write_text(json.dumps(sys.argv))
"""


@pytest.fixture
def in_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An nvcc in the PATH that notes what it is asked, and makes a program that ends with 7."""
    folder = tmp_path / "bin"
    folder.mkdir()
    nvcc = folder / "nvcc"
    nvcc.write_text(FAKE.format(python=sys.executable, log=str(tmp_path / "asked.json")))
    nvcc.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(gpu, "find", lambda: gpu.Gpu("NVIDIA H200", (13, 0), (9, 0)))
    return nvcc


@pytest.fixture
def no_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_found() -> Path:
        raise toolchain.CompilerNotFound("the wheels of nvcc are not installed", "pip install them")

    monkeypatch.setattr(toolchain, "toolkit", not_found)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "prog.cu"
    path.write_text("int main() {}\n")
    return path


@pytest.mark.usefixtures("no_wheels")
def test_on_a_gpu_without_wheels_the_nvcc_in_the_path_compiles(in_path: Path, program: Path) -> None:
    outcome = run.run(program, ["1024"], options=["-O2"])
    assert (outcome.status, outcome.emulated) == (7, False)
    asked = json.loads((in_path.parents[1] / "asked.json").read_text())
    assert asked[0] == str(in_path)
    assert {"-O2", "-arch=native", "-cudart=static", str(program)} <= set(asked)
    assert not any(option.startswith("-L") for option in asked)


def test_the_wheels_come_first(in_path: Path) -> None:
    wheels = toolchain.toolkit()
    nvcc, _, libraries = toolchain.native_nvcc()
    assert (nvcc, libraries) == (str(wheels / "bin" / "nvcc"), f"-L{wheels / 'lib'}")
    assert nvcc != str(in_path)


@pytest.mark.usefixtures("no_wheels", "in_path")
def test_the_emulator_compiles_with_the_wheels_alone(program: Path) -> None:
    with pytest.raises(WarpladderError, match=r"the wheels of nvcc are not installed\n.*pip install them"):
        run.run(program, device="emulator")


@pytest.mark.usefixtures("no_wheels")
def test_without_any_nvcc_the_wheels_are_asked_for(
    in_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_path.unlink()
    monkeypatch.setattr(toolchain, "host_compiler", lambda: "g++")
    monkeypatch.setenv("PATH", str(in_path.parent))
    with pytest.raises(WarpladderError, match="pip install them"):
        run.run(program, device="gpu")
    assert doctor._nvcc().found == "the wheels of nvcc are not installed"


@pytest.mark.usefixtures("no_wheels")
def test_doctor_says_which_nvcc_there_is(in_path: Path) -> None:
    check = doctor._nvcc()
    assert (
        check.found
        == f"for a GPU {in_path}, with g++; for the emulator, the wheels of nvcc are not installed"
    )
    assert (check.state, check.remedy) == ("missing", "pip install them")


UNUSED = """prog.cu: In function ‘int main()’:
prog.cu:4:9: warning: unused variable ‘x’ [-Wunused-variable]
"""
GONE = """prog.cu:6:22: warning: ‘cudaError_t cudaThreadExit()’ is deprecated: gone since CUDA 13: reset [-W]
    6 |     cudaThreadExit();
      |     ~~~~~~~~~~~~~~^~
cuda12.h:48:100: note: declared here
   48 | GONE("reset") static inline cudaError_t cudaThreadExit() {
      |                                         ^~~~~~~~~~~~~~
"""
ALONE = "prog.cu: In function ‘void other()’:\n"
CUDAFE = 'prog.cu(55): warning #2464-D: conversion from a string literal to "char *" is deprecated\n'
INSTANTIATED = """prog.cu: In instantiation of ‘void other(T*) [with T = int]’:
prog.cu:9:121:   required from here
"""


def test_of_what_the_compiler_says_names_that_are_gone_are_taken_out(tmp_path: Path) -> None:
    said, gone = toolchain._without_gone(
        UNUSED + GONE + ALONE + GONE + INSTANTIATED + GONE + CUDAFE, tmp_path
    )
    assert said == UNUSED + CUDAFE
    of_template = INSTANTIATED + UNUSED.partition("\n")[2]
    assert toolchain._without_gone(of_template, tmp_path)[0] == of_template
    ((name, instead, line),) = [(each.name, each.instead, each.place.line) for each in gone]
    assert (name, instead, line) == ("cudaThreadExit", "reset", 6)
