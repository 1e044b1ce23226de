"""The functions of the runtime's library, the methods that answer them, and what the reference says of them."""

from __future__ import annotations

import re
from pathlib import Path

from grader.emulator.cudart import child
from grader.emulator.cudart.calls.modules import SAME

ROOT = Path(__file__).parents[3]
_FUNCTION = re.compile(
    r"^(?:cudaError_t|CUresult|const char \*) ?\*?(cu\w+)\((.*?)\) \{(.*?)^(?=\S)", re.MULTILINE | re.DOTALL
)


def functions() -> dict[str, str]:
    """Name → body."""
    text = (ROOT / "grader" / "emulator" / "cudart" / "runtime.cpp").read_text()
    return {found[1]: found[3] for found in _FUNCTION.finditer(text)}


def test_each_function_that_asks_has_a_method() -> None:
    groups = [each for name, each in vars(child).items() if name.endswith("Calls")]
    methods = {name for group in groups for name in dir(group)}
    methods |= {name for name, other in SAME.items() if other in methods}
    asking = {
        name
        for name, body in functions().items()
        if any(f"{how}(" in body for how in ("CALL", "ASK", "DRIVE"))
    }
    assert {"cudaGraphLaunch", "cuLaunchKernel"} <= asking
    assert asking - methods == set()


def test_what_the_reference_says_is_known_is_there() -> None:
    page = (ROOT / "book" / "reference" / "run.md").read_text()
    known = page.partition("## What is known\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(cu[A-Za-z]\w+)`", known))
    there = functions().keys() | {name.removesuffix("C") for name in functions() if name.endswith("ExC")}
    assert "cudaGraphInstantiate" in named
    assert named - there == set()
