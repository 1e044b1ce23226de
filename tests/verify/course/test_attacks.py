"""A class of attackers, marked by an unprivileged user: what each gets done under each protection, and that the guide
says the same."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import class_attacks
import pytest
from attacking import HERE, there
from class_attacks import ATTACKS, PROTECTIONS, SECRET

# One group: one process marks the class, once for each protection.
pytestmark = [pytest.mark.soak(area="course"), pytest.mark.timeout(900), pytest.mark.xdist_group("attacks")]

NOBODY = 65534
GUIDE = Path(__file__).parents[3] / "book/instructor.md"
HELPERS = Path(class_attacks.__file__).parent
MOST_BYTES = 4 << 30
Outcome = dict[str, Any]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder of the user who marks: where this process is root's, of another one, if that one may read Python."""
    found = Path(tempfile.mkdtemp(prefix="warpladder-attacks-"))
    (found / "cache").mkdir(mode=0o700)
    if HERE.other_user:
        for path in (found, found / "cache"):
            os.chown(path, NOBODY, NOBODY)
    yield found
    shutil.rmtree(found)


@pytest.fixture(scope="module", params=PROTECTIONS)
def outcome(request: pytest.FixtureRequest, folder: Path) -> tuple[str, Outcome]:
    """A protection, and what the class of attackers got done under it."""
    if not there(request.param):
        pytest.skip(f"no {request.param} here")
    own = folder / request.param
    own.mkdir()
    who: dict[str, Any] = {}
    if HERE.other_user:
        os.chown(own, NOBODY, NOBODY)
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    programs = str(Path(sys.executable).parent)
    done = subprocess.run(
        [sys.executable, str(HELPERS / "class_attacks.py"), str(own)],
        capture_output=True,
        text=True,
        cwd=own,
        env={
            "PATH": os.pathsep.join([programs, os.environ["PATH"]]),
            "HOME": str(own),
            "PYTHONPATH": str(HELPERS / "confined"),
            "PROTECTION": request.param,
            "MEMORY": str(1 << 30),
            "WARPLADDER_CACHE": str(folder / "cache"),
        },
        **who,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if request.param == "bubblewrap" and "bubblewrap" not in found["means"]:
        pytest.skip("no namespaces for this user")
    return request.param, found


def test_each_attempt(outcome: tuple[str, Outcome]) -> None:
    protection, found = outcome
    done = {
        name: re.findall(r"DONE (.*?) END", item["said"])[0].split(",")
        for name, item in found["found"].items()
        if ATTACKS[name].attempts and name != "memory"
    }
    expected = {
        name: list(ATTACKS[name].attempts) if protection in ATTACKS[name].possible else [""] for name in done
    }
    assert done == expected


def test_what_the_compiler_is_asked(outcome: tuple[str, Outcome]) -> None:
    """It quotes nothing, tells of no file, and a bomb of three lines ends by its limits."""
    _, found = outcome
    said = {name: item["said"] for name, item in found["found"].items() if ATTACKS[name].kernel}
    assert not [name for name, text in said.items() if SECRET in text]
    assert not [name for name, text in said.items() if re.search(r"\bSEEN\b", text)]
    assert re.search("out of memory|NVRTC did not finish", said["bomb"])


def test_nobody_has_points_and_memory_is_limited(outcome: tuple[str, Outcome]) -> None:
    _, found = outcome
    assert set(found["found"]) == set(ATTACKS)
    assert not [name for name, item in found["found"].items() if item["points"]]
    assert "GiB of memory" in found["found"]["memory"]["said"]
    assert found["peak"] < MOST_BYTES


def test_nothing_is_left_of_them(outcome: tuple[str, Outcome]) -> None:
    """No process, no message, and every file as it was."""
    _, found = outcome
    assert (found["left"], found["heard"], found["changed"]) == (0, [], [])


def test_the_guide_has_the_table() -> None:
    table = class_attacks.table()
    assert table in GUIDE.read_text(encoding="utf-8"), (
        f"book/instructor.md does not have this table:\n{table}"
    )
