"""A module of this package is run from where this package lies, whatever else Python would find first."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from grader import __version__, modules
from grader.areas import PACKAGE

BY_NAME = re.compile(r'"-m",\s*"grader\b')


def test_another_package_that_python_finds_first_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "grader"
    other.mkdir()
    (other / "__init__.py").touch()
    (other / "background.py").write_text("print('another')\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    command = [*modules.command("grader.background"), str(os.getpid()), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == __version__


def test_no_module_of_ours_is_run_by_its_name() -> None:
    assert not [path for path in PACKAGE.rglob("*.py") if BY_NAME.search(path.read_text(encoding="utf-8"))]
