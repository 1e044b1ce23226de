"""The soak: what a part depends on, and what it says."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
import soak

TESTS = Path(__file__).parent


def test_a_part_depends_on_tests_that_only_a_helper_gives_to_its_area() -> None:
    found = soak.tests_of("judge")
    assert {
        TESTS / "judge/attacks/test_network.py",
        TESTS / "judge/test_corpus.py",
        TESTS / "conftest.py",
    } <= found
    assert TESTS / "workbook/test_units.py" not in found


@pytest.mark.parametrize(
    ("classname", "name", "given"),
    [
        ("tests.test_soak", "test_a[b c.d]@group", "tests/test_soak.py::test_a[b c.d]"),
        ("tests.test_soak.TestA", "test_b", "tests/test_soak.py::TestA::test_b"),
        ("nowhere", "test_b", "nowhere::test_b"),
    ],
)
def test_what_falls_short_is_named_as_pytest_takes_it(classname: str, name: str, given: str) -> None:
    assert soak.test_id(classname, name) == given


def test_a_part_is_one_of_its_number() -> None:
    assert [soak.a_part(text) for text in ("", "1/1", "02/6")] == ["", "1/1", "2/6"]
    for text in ("0/3", "4/3", "x", "1/0", "1", "-1/3"):
        with pytest.raises(argparse.ArgumentTypeError, match="is no part"):
            soak.a_part(text)
