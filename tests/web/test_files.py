"""A learner's files, as an editor on a page writes them."""

import os
from pathlib import Path

import pytest

from grader.errors import WarpladderError
from grader.web.files import write


def test_a_file_keeps_its_permissions_and_a_new_one_has_the_usual_ones(tmp_path: Path) -> None:
    file, new, usual = tmp_path / "mine.cu", tmp_path / "new.cu", tmp_path / "usual"
    file.write_text("// before\n")
    file.chmod(0o640)
    usual.touch()
    for each in (file, new):
        write(each, "// after\n")
    assert [each.read_text() for each in (file, new)] == 2 * ["// after\n"]
    assert file.stat().st_mode & 0o777 == 0o640
    assert new.stat().st_mode == usual.stat().st_mode


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    file = tmp_path / "mine.cu"
    file.mkdir()
    with pytest.raises(WarpladderError, match="it cannot be written: Is a directory"):
        write(file, "// after\n")
    assert os.listdir(tmp_path) == ["mine.cu"]
