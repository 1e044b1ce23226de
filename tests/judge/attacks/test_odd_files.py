"""A file that is none, or whose launch block asks for what no arithmetic gives."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from grader.errors import WarpladderError
from grader.judge.grade import grade
from grader.workbook import topics

TOPIC = topics.load("transpose")
BLOCK = '// /// launch\n// [[launch]]\n// kernel = "transpose"\n// grid = [{grid}]\n// block = [32]\n{more}// ///\n'
KERNEL = "__global__ void transpose(const float* in, float* out, int M, int N) {}\n"


def parsed(text: str, tmp_path: Path) -> None:
    file = tmp_path / "kernel.cu"
    file.write_text(text, encoding="utf-8")
    TOPIC.parse(file)


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.cu"
    os.mkfifo(pipe)
    begun = time.monotonic()
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(WarpladderError, match="this is not a regular file"):
            TOPIC.parse(path)
        assert "not a regular file" in grade(TOPIC, path, "emulator").reason
    assert time.monotonic() - begun < 10


def test_a_huge_file(tmp_path: Path) -> None:
    file = tmp_path / "kernel.cu"
    with file.open("wb") as sparse:
        sparse.truncate(1 << 40)
    with pytest.raises(WarpladderError, match="more than 1,048,576 bytes"):
        TOPIC.parse(file)


@pytest.mark.parametrize(
    ("more", "line", "said"),
    [
        ("// a = " + "[" * 20_000 + "\n", None, "deep"),
        ("// a = " + "9" * 5000 + "\n", 6, "not TOML"),
        ("// a = 2024-13-45\n", 6, "not TOML"),
        ("// [" + " " * 100_000 + "\n", 6, "not TOML"),
    ],
)
def test_odd_toml_is_an_error_of_the_file(more: str, line: int | None, said: str, tmp_path: Path) -> None:
    with pytest.raises(WarpladderError, match=said) as caught:
        parsed(BLOCK.format(grid=1, more=more) + KERNEL, tmp_path)
    assert caught.value.file is not None
    assert line is None or caught.value.line == line


@pytest.mark.parametrize(
    "grid", ["M // 0", "M % (N - N)", "*".join(["(M+9)"] * 60), "M / 1e-320 * 1e300", "1e400"]
)
def test_arithmetic_without_a_value(grid: str, tmp_path: Path) -> None:
    file = tmp_path / "kernel.cu"
    file.write_text(BLOCK.format(grid=f'"{grid}"', more="") + KERNEL)
    reason = grade(TOPIC, file, "emulator").reason
    assert "kernel.cu:4" in reason, reason


@pytest.mark.parametrize(
    "name",
    [
        'transpose\\n#include \\"/etc/passwd\\"',
        "x\\r#include </etc/passwd>",
        "",
        "a; int b",
        "#",
        "a" * 1000,
    ],
)
def test_a_kernels_name_is_a_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(WarpladderError, match="is no name of a kernel") as caught:
        parsed(BLOCK.replace("transpose", name).format(grid=1, more="") + KERNEL, tmp_path)
    assert caught.value.line == 3


def test_scratch_beyond_all_memory(tmp_path: Path) -> None:
    scratch = '// [[scratch]]\n// name = "s"\n// dtype = "float64"\n// shape = [100000, 1000000]\n'
    text = BLOCK.format(grid=1, more='// args = ["in", "s", "M", "N"]\n' + scratch) + KERNEL.replace(
        "float* out", "double* out"
    )
    file = tmp_path / "kernel.cu"
    file.write_text(text)
    reason = grade(TOPIC, file, "emulator").reason
    assert "Its arrays take 800" in reason, reason


def test_no_file_of_the_machine_is_quoted(tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("this is secret")
    for text in (
        f'#include "{secret}"',
        f'#if __has_include("{secret}")\n#error there is this is secret\n#endif',
    ):
        file = tmp_path / "kernel.cu"
        file.write_text(BLOCK.format(grid=1, more="") + text + "\n" + KERNEL)
        assert "this is secret" not in grade(TOPIC, file, "emulator").reason
