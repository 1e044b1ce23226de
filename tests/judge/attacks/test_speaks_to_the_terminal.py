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
from grader.report.terminal import terminal
from grader.visible import visible

ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b31m\r\x08\u202e\u2066\x7f"
OBEYED = ("\x1b", "\x07", "\x08", "\r", "\x7f", "\x9b", "\u202e", "\u2066")


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


def said(*arguments: str) -> bytes:
    """What the command `ladder` writes, to both of its streams; no terminal obeys any of it."""
    done = subprocess.run([sys.executable, "-m", "grader", *arguments], capture_output=True, check=False)
    written = done.stdout + done.stderr
    for obeyed in OBEYED:
        assert obeyed.encode() not in written, written
    return written


@pytest.mark.parametrize("more", ["", "undeclared \x1b[2J;"])
def test_a_grade_of_a_kernel_with_escapes(more: str, tmp_path: Path) -> None:
    file = tmp_path / "kernel\x1b[2J.cu"
    file.write_text(KERNEL % more)
    sizes = ("--set", "M=33", "--set", "N=31", "--json", "-")
    assert b"\\x1b" in said("grade", "transpose", str(file), "--device", "emulator", *sizes)


@pytest.mark.parametrize(
    "arguments",
    [
        (ESCAPES,),
        ("climb", ESCAPES),
        ("grade", "transpose", ESCAPES, "--device", ESCAPES),
        ("grade", "transpose", ESCAPES, "--set", ESCAPES),
        ("new", "transpose", f"/no/{ESCAPES}/file.cu"),
        ("emulate", ESCAPES),
    ],
    ids=" ".join,
)
def test_arguments_with_escapes(arguments: tuple[str, ...]) -> None:
    assert rb"\x1b]0;title" in said(*arguments)


TOML = """
// /// launch
// "%s" = 1
// [[launch]]
// kernel = "transpose"
// ///
"""
RAISES = """
class Schedule:
    def __init__(self, *given): raise ValueError({escapes!a})
    def run(self): ...
"""
SCRIPT = """
import sys
import numpy, pycuda.autoinit
from pycuda.compiler import SourceModule
code = '__global__ void k() {{ printf("\\\\x1b[2Jprinted"); }}'
SourceModule(code).get_function("k")(block=(1, 1, 1))
print({escapes!a})
print({escapes!a}, file=sys.stderr)
raise ValueError({escapes!a})
"""


@pytest.mark.parametrize(
    ("command", "name", "text"),
    [
        (("grade", "transpose"), "kernel.cu", TOML % r"\u001b]0;title\u0007"),
        (("grade", "streams"), "schedule.py", RAISES.format(escapes=ESCAPES)),
        (("emulate",), "script.py", SCRIPT.format(escapes=ESCAPES)),
    ],
    ids=["a key of TOML", "an exception", "a script"],
)
def test_a_file_with_escapes(command: tuple[str, ...], name: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert b"\\x1b" in said(*command, str(file))


def test_a_traceback_with_escapes() -> None:
    """What no command has foreseen."""
    script = (
        "from grader.report.terminal import terminal\nfrom grader.visible import show_visible_text_alone\n"
        "show_visible_text_alone()\n"
        "terminal(stderr=True, force_terminal=True, color_system='standard').print('bold', style='bold')\n"
        f"raise ValueError({ESCAPES!a})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.stderr.startswith(b"\x1b[1mbold\x1b[0m\n"), "a console's own colours are kept"
    assert b"\x1b" not in done.stderr.partition(b"\n")[2]
    assert rb"ValueError: \x1b]0;title" in done.stderr


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    """A file's name is bytes, and need not be UTF-8."""
    file = tmp_path / "kernel\udcff\x1b.cu"
    file.write_text(KERNEL % "undeclared;")
    said_of_it = said("grade", "transpose", str(file), "--device", "emulator", "--json", "-")
    assert b"udcff" in said_of_it.replace(b"\n", b""), "lines end at 80 columns"
