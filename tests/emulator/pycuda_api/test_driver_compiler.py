"""`SourceModule` and `compile`."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.compiler import SourceModule, compile

pytestmark = pytest.mark.usefixtures("gpu")


def test_names_are_plain_unless_told_otherwise() -> None:
    template = "template <int N> __device__ int f() { return N; }\n"
    kernel = "__global__ void k(int *out) { *out = f<3>(); }"
    with pytest.raises(driver.CompileError, match="template"):
        SourceModule(template + kernel)
    module = SourceModule(f'{template} extern "C" {kernel}', no_extern_c=True)
    out = np.zeros(1, np.int32)
    module.get_function("k")(driver.Out(out), block=(1, 1, 1))
    assert out == [3]


def test_errors_show_the_compilers_text_and_the_line_of_the_string() -> None:
    with pytest.raises(driver.CompileError) as caught:
        SourceModule("\n\n__global__ void k(int *out) { out = nothing; }")
    assert 'kernel.cu(3): error: identifier "nothing" is undefined' in str(caught.value)
    assert "[command: nvrtc -arch=sm_90a kernel.cu]" in str(caught.value)
    assert caught.value.stderr is not None


def test_nvccs_options_are_understood() -> None:
    options = [
        "-O3",
        "-DN=4",
        "-Xcompiler",
        "-fPIC",
        "-use_fast_math",
        "--ptxas-options=-v",
        "-lineinfo",
        "-m64",
    ]
    assert b".entry k" in compile("__global__ void k(float *x) { x[N] = sinf(x[0]); }", options=options)
    with pytest.raises(driver.NotEmulated, match="-rdc=true"):
        compile("", options=["-rdc=true"])
    with pytest.raises(driver.CompileError, match="--frobnicate"):
        compile("", options=["--frobnicate"])


def test_architectures() -> None:
    assert b".target sm_80" in compile("__global__ void k() {}", arch="sm_80")
    assert b".target sm_80" in compile("__global__ void k() {}", arch="compute_80")
    assert b".target sm_90a" in compile("__global__ void k() {}")


def test_include_folders(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("#define MINE 5\n")
    source = '#include "mine.h"\n__global__ void k(int *out) { *out = MINE; }'
    out = np.zeros(1, np.int32)
    SourceModule(source, include_dirs=[str(tmp_path)]).get_function("k")(driver.Out(out), block=(1, 1, 1))
    assert out == [5]


def test_what_the_compiler_says_is_passed_on_as_a_warning() -> None:
    with pytest.warns(UserWarning, match="declared but never referenced"):
        SourceModule("__global__ void k() { int unused; }")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SourceModule("__global__ void k() { }")


def test_keep_leaves_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    SourceModule("__global__ void k() {}", keep=True)
    folder = Path(capsys.readouterr().out.split()[-1])
    assert sorted(path.name for path in folder.iterdir()) == ["kernel.cu", "kernel.cubin", "kernel.ptx"]
