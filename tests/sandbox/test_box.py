"""What a confined process may read."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.sandbox.box import packages


def test_a_package_is_found_where_it_lies_before_it_is_imported_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept" / "cupy").mkdir(parents=True)
    (tmp_path / "kept" / "cupy" / "__init__.py").touch()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "cupy").symlink_to(tmp_path / "kept" / "cupy")
    monkeypatch.syspath_prepend(str(tmp_path / "linked"))
    packages.cache_clear()
    try:
        assert {str(tmp_path / "linked"), str(tmp_path / "kept")} <= set(packages())
    finally:
        packages.cache_clear()
