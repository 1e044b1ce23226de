"""nbgrader's pages of a course, formgrader's and the feedback, in a real Chromium without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import judged_course
import pytest
from formulas import formulas_of
from judged_course import gradebook, hand_in
from playwright.sync_api import Browser
from windows import LAPTOP, PHONE, WIDER_THAN_THE_WINDOW, Opened, formgrader, opened

from grader.course.batch import open_course
from grader.course.gradebook.autograde import autograde
from grader.course.gradebook.feedback import give

# One group: one process makes the course for all of these tests.
pytestmark = [pytest.mark.verify, pytest.mark.timeout(300), pytest.mark.xdist_group("formgrader")]

A = "transpose"
SOAK = pytest.mark.soak(area="course")
COMMENT = "Each of the $E$ elements is read once: $$8 E \\text{ bytes}$$ and no more."
LISTS = (
    "manage_assignments",
    f"manage_submissions/{A}",
    "gradebook",
    f"gradebook/{A}",
    f"gradebook/{A}/{A}",
    "manage_students",
    "manage_students/ada",
    f"manage_students/ada/{A}",
)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three students autograded, one of whom has a comment with formulas, and their feedback."""
    root = judged_course.made(tmp_path_factory.mktemp("pages") / "cuda")
    for student, rung in {"ada": "05_float4_tile", "bob": "00_naive", "cyd": "none"}.items():
        hand_in(root, student, rung)
    with pytest.MonkeyPatch.context() as patch:
        judged_course.with_judge(patch)
        autograde(*open_course(root), A)
        with gradebook(root) as book:
            book.find_comment(f"kernel-{A}", A, A, "ada").manual_comment = COMMENT
            book.db.commit()
        give(*open_course(root), A)
    return root


@pytest.fixture(scope="module")
def address(course: Path) -> Iterator[str]:
    with formgrader(course) as found:
        yield found


def submission(browser: Browser, address: str, student: str, window: dict[str, int] = LAPTOP) -> Opened:
    """A student's submission as formgrader shows it."""
    seen = opened(browser, f"{address}/gradebook/{A}/{A}", window)
    seen.page.wait_for_load_state("networkidle")
    answer = seen.page.request.get(f"{address}/api/submitted_notebooks/{A}/{A}")
    key = next(item["id"] for item in answer.json() if item["student"] == student)
    seen.page.goto(f"{address}/submissions/{key}/", wait_until="load")
    seen.page.wait_for_selector("input.score")
    return seen


def typeset(page: Any, in_comments: int = 0) -> bool:
    """Whether all formulas are drawn, those of the assignment and so many in comments, each as wide as one is, and none
    is left as it was written."""
    formulas = page.locator("math")
    drawn = [formulas.nth(place).bounding_box() for place in range(formulas.count())]
    left = page.locator(".rendered_html", has_text="$").count()
    visible = all(box and box["width"] > 5 and box["height"] > 5 for box in drawn)
    return len(drawn) == formulas_of("transpose") + in_comments > in_comments and visible and not left


def test_what_lists_the_class(browser: Browser, address: str) -> None:
    for name in LISTS:
        seen = opened(browser, f"{address}/{name}")
        seen.page.wait_for_selector("text=Loading", state="detached")
        seen.page.wait_for_load_state("networkidle")
        assert (name, seen.elsewhere, seen.complaints) == (name, [], [])
        assert seen.page.locator("tbody tr").count()
        seen.page.close()


@pytest.mark.parametrize("window", [LAPTOP, pytest.param(PHONE, marks=SOAK)], ids=["laptop", "phone"])
def test_a_submission(browser: Browser, address: str, window: dict[str, int]) -> None:
    seen = submission(browser, address, "bob", window)
    assert typeset(seen.page)
    seen.page.wait_for_load_state("networkidle")
    assert (seen.elsewhere, seen.complaints) == ([], [])
    seen.page.close()


def test_keys_lead_from_box_to_box(browser: Browser, address: str) -> None:
    """formgrader sets them up only after it has asked MathJax."""
    seen = submission(browser, address, "bob")
    seen.page.wait_for_function("document.activeElement.matches('.tabbable')")
    for box in (f"kernel-{A}-comment", f"{A}-00_naive"):
        seen.page.keyboard.press("Tab")
        seen.page.wait_for_function(f"document.activeElement.id === '{box}'")
    seen.page.close()


@pytest.mark.parametrize("window", [pytest.param(LAPTOP, marks=SOAK), PHONE], ids=["laptop", "phone"])
def test_feedback(browser: Browser, course: Path, window: dict[str, int]) -> None:
    seen = opened(browser, (course / f"feedback/ada/{A}/{A}.html").as_uri(), window)
    assert (seen.elsewhere, seen.complaints) == ([], [])
    assert typeset(seen.page, in_comments=2)
    assert not seen.page.evaluate(WIDER_THAN_THE_WINDOW)
    comment = seen.page.locator(".panel-footer")
    assert comment.locator("math").count() == 2
    assert "$" not in comment.inner_text()
    seen.page.close()
