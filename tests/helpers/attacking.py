"""Schedules that attack: what they do is run as a learner's Python is, and what they print comes back."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable
from dataclasses import replace

import pytest

from grader.emulator.nvrtc import compilation
from grader.judge.child.begun import RECORDING
from grader.judge.child.process import ChildProcess
from grader.judge.child.protocol import RecordSchedule, Reply
from grader.sandbox import start
from grader.sandbox.means import Means, means

KERNEL = 'extern "C" __global__ void process(const float* in, float* out, int N, int R) {}'

HERE = means()
BUILDS: dict[str, Means] = {
    "bubblewrap": HERE,
    "landlock": replace(HERE, bubblewrap=""),
    "another user": replace(HERE, bubblewrap="", landlock=0),
    "limits": replace(HERE, bubblewrap="", landlock=0, other_user=False),
}
"""The protections that a machine may have. Each is tried where this one has it."""


def there(name: str) -> bool:
    """Whether this machine has what a protection is named after."""
    has = {
        "bubblewrap": bool(HERE.bubblewrap),
        "landlock": HERE.landlock > 0,
        "another user": HERE.other_user,
        "limits": True,
    }
    return has[name] and HERE.seccomp


_FIRST = next((name for name in BUILDS if there(name)), "limits")

each_protection = pytest.mark.parametrize(
    "protection",
    [
        pytest.param(
            name,
            marks=[pytest.mark.skipif(not there(name), reason=f"no {name} here")]
            + [pytest.mark.soak(area="judge")] * (name != _FIRST),
        )
        for name in BUILDS
    ],
)
"""The strongest that is here; the others are the soak's."""


@functools.cache
def image() -> bytes:
    return compilation.build(KERNEL).image("emulator")


def schedule(body: str) -> str:
    """The source of a schedule that does `body` when it is made."""
    inside = textwrap.indent(textwrap.dedent(body), " " * 8)
    return (
        "import os, sys\n"
        "class Schedule:\n"
        f"    def __init__(self, process):\n{inside}\n"
        "    def run(self): pass\n"
    )


def order(body: str) -> RecordSchedule:
    return RecordSchedule("attack.py", schedule(body), image(), "process", ())


def under(protection: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on processes start under this protection alone."""
    if protection != "bubblewrap":
        monkeypatch.setattr(start, "means", lambda: BUILDS[protection])


def attack(
    body: str,
    protection: str,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float = 60.0,
    told: Callable[[ChildProcess], None] = lambda child: None,
) -> tuple[Reply, str]:
    """Run a schedule's body under a protection: the answer, and what was printed."""
    under(protection, monkeypatch)
    with ChildProcess("emulator", threads=1, role=RECORDING) as child:
        child.hello()
        told(child)
        reply = child.ask([order(body)], seconds)
        return reply, child.printed()
