"""A kernel, a schedule or a file's name holds escape sequences, which a terminal would obey."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from grader.report.rendering import environment
from grader.report.terminal import terminal, visible

ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b31m\r\x08\u202e\u2066\x7f"


def test_everything_printed_is_visible() -> None:
    output = io.StringIO()
    console = terminal(file=output, width=200, force_terminal=True)
    table = Table("head")
    table.add_row(Text(ESCAPES))
    console.print(table, Text(ESCAPES), style="bold")
    shown = output.getvalue()
    for sign in ("\x1b]", "\x1b[2J", "\x9b", "\u202e", "\u2066", "\x7f", "\x07"):
        assert sign not in shown
    assert r"\x1b]0;title" in shown
    assert "\x1b[1m" in shown, "rich's own colours are kept"


def test_halves_of_characters_are_printed() -> None:
    assert visible("a\ud800b\n\tc") == "a\\ud800b\n\tc"


def test_pages_hold_none() -> None:
    page = environment({}).from_string("<p>{{ text }}</p>").render(text=f"<{ESCAPES}")
    assert page.startswith(r"<p>&lt;\x1b]0;title\x07")


KERNEL = """
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = [1]
// block = [32]
// ///
#include <cstdio>
__global__ void transpose(const float* in, float* out, int M, int N) {
    if (threadIdx.x == 0) printf("\\x1b[2Jprinted\\n");
    const char* text = "\x1b[31mquoted"; %s
}
"""


@pytest.mark.parametrize("more", ["", "undeclared \x1b[2J;"])
def test_a_grade_of_a_kernel_with_escapes(more: str, tmp_path: Path) -> None:
    file = tmp_path / "kernel\x1b[2J.cu"
    file.write_text(KERNEL % more)
    command = [sys.executable, "-m", "grader", "grade", "transpose", str(file), "--device", "emulator"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"\\x1b" in done.stdout + done.stderr
