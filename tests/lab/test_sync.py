"""Each .ipynb is made from its text, and never in place of a learner's work."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
TEXT = """---
jupytext:
  formats: md:myst
kernelspec:
  display_name: Python 3 (ipykernel)
  language: python
  name: python3
---

# {title}

```{{code-cell}} ipython3
lab.predict("stores", None)
```
"""


@pytest.fixture
def sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """notebooks/sync.py, with a folder of one text."""
    pytest.importorskip("jupytext")
    spec = importlib.util.spec_from_file_location("notebooks_sync", NOTEBOOKS / "sync.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "HERE", tmp_path)
    (tmp_path / "one.md").write_text(TEXT.format(title="First"), "utf-8")
    return module


def read(folder: Path) -> Any:
    return json.loads((folder / "one.ipynb").read_text("utf-8"))


def changed(folder: Path, old: str, new: str) -> bytes:
    """Change a cell as JupyterLab would; what the file holds then."""
    notebook = read(folder)
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace(old, new)
    (folder / "one.ipynb").write_text(json.dumps(notebook), "utf-8")
    return (folder / "one.ipynb").read_bytes()


def test_a_notebook_is_made_where_there_is_none(sync: ModuleType, tmp_path: Path, capsys: Any) -> None:
    sync.main(tmp_path)
    assert "lab.predict" in json.dumps(read(tmp_path))
    assert capsys.readouterr().out == "wrote one.ipynb\n"
    sync.main(tmp_path)
    assert capsys.readouterr().out == ""


def test_an_answer_is_never_lost(sync: ModuleType, tmp_path: Path, capsys: Any) -> None:
    sync.main(tmp_path)
    answered = changed(tmp_path, "None", "32")
    sync.main(tmp_path)
    assert (tmp_path / "one.ipynb").read_bytes() == answered
    assert "kept one.ipynb: it has your work\n" in capsys.readouterr().out

    (tmp_path / "one.md").write_text(TEXT.format(title="Second"), "utf-8")
    sync.main(tmp_path)
    assert (tmp_path / "one.ipynb").read_bytes() == answered
    assert "its text has changed since. For the new one, rename yours" in capsys.readouterr().out


def test_a_text_that_changed_comes_where_nothing_was_answered(
    sync: ModuleType, tmp_path: Path, capsys: Any
) -> None:
    sync.main(tmp_path)
    notebook = read(tmp_path)
    notebook["cells"][-1]["execution_count"] = 3  # run, and nothing written
    (tmp_path / "one.ipynb").write_text(json.dumps(notebook), "utf-8")
    (tmp_path / "one.md").write_text(TEXT.format(title="Second"), "utf-8")
    sync.main(tmp_path)
    assert "# Second" in json.dumps(read(tmp_path))
    assert "wrote one.ipynb again" in capsys.readouterr().out


@pytest.mark.parametrize("there", ["", "[]", '{"cells": []}', '{"cells": [], "metadata": {}}'])
def test_a_file_that_was_not_made_here_is_kept(sync: ModuleType, tmp_path: Path, there: str) -> None:
    (tmp_path / "one.ipynb").write_text(there)
    sync.main(tmp_path)
    assert (tmp_path / "one.ipynb").read_text() == there


def test_git_ignores_a_learners_notebooks_and_answers() -> None:
    names = ["gemm.ipynb", ".ipynb_checkpoints/gemm-checkpoint.ipynb", ".answers/gemm.json"]
    asked = ["git", "check-ignore", "--no-index", *(f"notebooks/{name}" for name in names)]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode == 128:
        pytest.skip("this is no clone")
    assert len(found.stdout.split()) == len(names)
    tracked = subprocess.run(["git", "ls-files", "*.ipynb"], cwd=ROOT, capture_output=True, text=True)
    assert tracked.stdout.split() == ["notebooks/cloud.ipynb"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All notebooks, made from their texts."""
    pytest.importorskip("jupytext")
    folder = tmp_path_factory.mktemp("notebooks")
    subprocess.run([sys.executable, str(NOTEBOOKS / "sync.py"), str(folder)], check=True)
    return folder


def test_cells_keep_to_the_style_of_the_house(made: Path) -> None:
    ruff = [sys.executable, "-m", "ruff"]
    config = ["--config", str(NOTEBOOKS / "ruff.toml"), "--config", f'src = ["{ROOT}"]', str(made)]
    for command in (["check"], ["format", "--check"]):
        found = subprocess.run([*ruff, *command, *config], capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout + found.stderr


def test_no_answer_and_no_hint_stands_in_a_cell_that_is_open(made: Path) -> None:
    for path in made.glob("*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            source = "".join(cell["source"])
            if "lab.question(" in source or "lab.hints(" in source:
                assert cell["metadata"]["jupyter"]["source_hidden"], path.name
            assert "hint=" not in source or "lab.question(" in source, path.name


def test_every_notebook_has_a_figure(made: Path) -> None:
    figures = ("lab.Picture(", "lab.sectors(", "lab.banks(", "lab.warps(", "_slider(")
    for path in made.glob("*.ipynb"):
        assert any(figure in path.read_text("utf-8") for figure in figures), path.name
