"""benchmarks/suite.py: the time of the tests, by package and by test."""

from __future__ import annotations

from pathlib import Path

import pytest
import suite

NEW = """<testsuites><testsuite>
<testcase classname="tests.test_house" name="test_circle" time="1.0" />
<testcase classname="tests.judge.test_grade" name="test_grade[gemm]" time="6.0" />
<testcase classname="tests.judge.claims.test_scoring.TestLadder" name="test_paid" time="2.5" />
<testcase classname="tests.lab.test_magics" name="test_cell" time="0.5"><skipped /></testcase>
</testsuite></testsuites>"""
OLD = """<testsuites><testsuite>
<testcase classname="tests.judge.test_grade" name="test_grade[gemm]" time="10.0" />
<testcase classname="tests.room.test_page" name="test_page" time="1.0" />
</testsuite></testsuites>"""


@pytest.fixture
def new(tmp_path: Path) -> Path:
    file = tmp_path / "new.xml"
    file.write_text(NEW, encoding="utf-8")
    return file


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_packages_and_tests_come_dearest_first(new: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite.main([str(new)])
    assert rows(capsys.readouterr().out) == [
        ["package", "seconds", "share", "tests"],
        ["tests/judge", "8.5", "85%", "2"],
        ["tests", "1.0", "10%", "1"],
        ["tests/lab", "0.5", "5%", "1"],
        ["all", "10.0", "4"],
        [],
        ["seconds", "test"],
        ["6.0", "judge.test_grade::test_grade[gemm]"],
        ["2.5", "judge.claims.test_scoring.TestLadder::test_paid"],
        ["1.0", "test_house::test_circle"],
        ["0.5", "lab.test_magics::test_cell"],
    ]


def test_a_run_against_an_earlier_one(new: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.xml"
    old.write_text(OLD, encoding="utf-8")
    suite.main([str(new), "--against", str(old)])
    assert rows(capsys.readouterr().out)[:6] == [
        ["package", "before", "now", "difference"],
        ["tests/judge", "10.0", "8.5", "-1.5"],
        ["tests", "0.0", "1.0", "+1.0"],
        ["tests/room", "1.0", "0.0", "-1.0"],
        ["tests/lab", "0.0", "0.5", "+0.5"],
        ["all", "11.0", "10.0", "-1.0"],
    ]


def test_no_line_is_wider_than_a_terminal() -> None:
    tests = {f"judge.test_long::test_{'x' * 100}[{i}]": float(i) for i in range(30)}
    lines = suite.dearest(tests).splitlines()
    assert len(lines) == suite.DEAREST + 1
    assert max(map(len, lines)) == suite.COLUMNS
