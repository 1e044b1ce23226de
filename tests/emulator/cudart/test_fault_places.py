"""Programs of several files, places/NAME/main.cu with what it includes: faults in headers, templates and inlined
functions are found with their file, line and calls, and a program that is cured (-DCURED) has none.

Marks say what is due, by the kernel's name. `// FAULT kind: kernel` is the line of the fault; `// CALL: kernel` is
the call that led there, `// CALL 2: kernel` the one that led to that, and so on; `// OTHER: kernel` and `// OTHER
CALL: kernel` are those of the other thread of a race, or of the call that freed the memory; `// LAUNCH: kernel`
launches it. Of what blocks do to one word of global memory the other line is not known, and of functions that call
themselves the calls are not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tiers import sample

from grader.emulator.cudart.events import Outcome
from grader.emulator.cudart.process import run
from grader.emulator.places import Place

PLACES = Path(__file__).parent / "places"
PROGRAMS = sorted(path.parent.name for path in PLACES.glob("*/main.cu"))
MANY = "many"
"""Has faults of several kernels, and no cure."""
QUICK = ("freed", "merged")
_MARK = re.compile(r"(FAULT|CALL|OTHER CALL|OTHER|LAUNCH)(?: (\w+))?: ([^A-Z]+)")
Stack = tuple[str, ...]


@dataclass
class Fault:
    """What is due of a kernel."""

    kind: str = ""
    launch: str = ""
    stack: dict[int, str] = field(default_factory=dict)
    """The lines, by how many calls lie between them and the fault."""
    other: dict[int, str] = field(default_factory=dict)


def places(numbered: dict[int, str]) -> Stack:
    assert sorted(numbered) == list(range(len(numbered))), f"calls are missing between {numbered}"
    return tuple(numbered[at] for at in sorted(numbered))


def marked(folder: Path) -> dict[str, Fault]:
    """What the files of a program mark, by the kernel."""
    found: dict[str, Fault] = defaultdict(Fault)
    for path in (path for path in folder.rglob("*") if path.is_file()):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            at = f"{path.relative_to(folder)}:{number}"
            for word, what, kernels in _MARK.findall(line.partition("// ")[2]):
                for fault in map(found.__getitem__, kernels.split()):
                    if word == "LAUNCH":
                        fault.launch = at
                    elif word == "FAULT":
                        fault.kind, fault.stack[0] = what, at
                    else:
                        stack = fault.other if word.startswith("OTHER") else fault.stack
                        stack[int(what or 1) if word.endswith("CALL") else 0] = at
    return found


def stack(place: Place | None) -> Stack:
    return tuple(map(str, place.naming("main.cu").stack())) if place and place.line else ()


def outcome_of(name: str, *options: str) -> Outcome:
    folder = PLACES / name
    units = sorted(str(path) for path in folder.rglob("*.cu") if path != folder / "main.cu")
    return run(folder / "main.cu", [], "sm_90a", [*units, *options])


def told(outcome: Outcome) -> list[tuple[str, str, Stack, Stack, str]]:
    """Of each finding the kernel, the kind, the stack of its place and that of the other, and the launch."""
    by_kernels = [
        (record.kernel, each.kind, each.place, each.other.place if each.other else None, launch)
        for record, launch in outcome.launches
        for each in record.findings
    ]
    by_host = [(each.call, each.kind, each.inside, each.other, each.place) for each in outcome.findings]
    return [
        (kernel, kind, stack(place), stack(other), str(launch))
        for kernel, kind, place, other, launch in [*by_kernels, *by_host]
    ]


@pytest.mark.parametrize(
    "name",
    [
        *sample([name for name in PROGRAMS if name != MANY], QUICK, "emulator"),
        *sample([MANY], [MANY], "emulator", verify=True),
    ],
)
def test_a_fault_in_any_file_has_its_file_line_and_calls(name: str) -> None:
    due = marked(PLACES / name)
    outcome = outcome_of(name)
    assert (outcome.status, outcome.refused) == (0, None)
    found = set()
    for kernel, kind, place, other, launch in told(outcome):
        label = kernel if kernel in due else kernel.partition("<")[0]
        fault = due[label]
        assert launch == (fault.launch or launch)
        both = [(places(fault.stack), places(fault.other))]
        if kind == "race":  # may be told of both its lines
            both.append(both[0][::-1])
        assert (kind, place, other) in [(fault.kind, *each) for each in both]
        found |= {label} if (place, other) == both[0] else set()
    assert found == due.keys()


@pytest.mark.soak(area="emulator")
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != MANY])
def test_a_program_that_is_cured_has_no_findings(name: str) -> None:
    outcome = outcome_of(name, "-DCURED")
    assert told(outcome) == []
    assert (outcome.refused, outcome.exit_code) == (None, 0)


def test_each_program_has_three_files_and_marks_its_fault() -> None:
    assert len(PROGRAMS) >= 12
    for name in PROGRAMS:
        assert len([path for path in (PLACES / name).rglob("*") if path.is_file()]) >= 3
        assert all(fault.kind and places(fault.stack) for fault in marked(PLACES / name).values())
