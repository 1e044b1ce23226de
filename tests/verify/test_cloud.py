"""notebooks/cloud.ipynb, in a Python that knows nothing of the workbook: its first cell installs, its second climbs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from clones import ROOT, copied_to

# One group with the other set-ups: what one of them downloads, the others find in pip's cache.
pytestmark = [pytest.mark.soak(area="setup"), pytest.mark.timeout(900), pytest.mark.xdist_group("gpu_setup")]

NOTEBOOK = ROOT / "notebooks" / "cloud.ipynb"

EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""


def run(*command: str | Path, cwd: Path, **more: str) -> None:
    done = subprocess.run(
        command, cwd=cwd, env=os.environ | more, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def address(tmp_path: Path) -> Path:
    """A repository with the workbook as it is here."""
    copy = copied_to(tmp_path / "published")
    run("git", "init", "--quiet", cwd=copy)
    run("git", "add", "--all", cwd=copy)
    somebody = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    run("git", *somebody, "commit", "--quiet", "--message", "all", cwd=copy)
    return copy


@pytest.fixture
def executed(tmp_path: Path, address: Path) -> Iterator[Any]:
    """The notebook with its outputs."""
    run(getattr(sys, "_base_executable", sys.executable), "-m", "venv", tmp_path / "host", cwd=tmp_path)
    python = tmp_path / "host" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "ipykernel", "nbclient", cwd=tmp_path)
    output = tmp_path / "executed.ipynb"
    run(python, "-c", EXECUTE, NOTEBOOK, output, cwd=tmp_path, WORKBOOK=f"file://{address}")
    yield nbformat.read(output, as_version=4)
    shutil.rmtree(tmp_path / "host")  # a gigabyte, which pytest would keep


def said(cell: Any) -> str:
    """What a cell has printed and shown, without colours."""
    shown = (output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)
    return re.sub(r"\x1b\[[0-9;]*m", "", "".join(shown))


def test_it_installs_climbs_and_grades(executed: Any) -> None:
    _install, climb, _load, _kernel, grade = (cell for cell in executed.cells if cell.cell_type == "code")
    assert "✓ 03_float4" in said(climb)
    assert "ladder new vector_add" in said(climb)
    assert "never written" in said(grade)


def test_it_is_kept_without_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.outputs for cell in notebook.cells if cell.cell_type == "code")
