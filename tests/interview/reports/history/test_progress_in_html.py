"""A learner's progress as a page: complete, well-formed, and saying where the learner stands."""

import re
from html import unescape

import made_up_history
from well_formed import checked

from grader.history.progress import progress
from grader.interview.reports.history import page as progress_page


def test_progress_as_a_page() -> None:
    found = made_up_history.standing()
    page = checked(progress_page.progress(found, made_up_history.CURES))
    said = unescape(re.sub(r"<[^>]+>", "", page))
    assert "A title that is <long> & says a lot" in said
    assert said.count("kernels/optimized/transpose/03_padded_tile.cu") == min(len(found.weak), 8) > 0
    for skill in (*found.topics, *found.levels, *found.formats):
        assert skill.name in said
    assert page.count('class="warpladder"') == 2 + len([*found.topics, *found.levels, *found.formats])


def test_the_page_before_the_first_answer() -> None:
    page = checked(progress_page.progress(progress([], made_up_history.ITEMS, made_up_history.NOW), {}))
    assert "No question was answered yet" in page
    assert "<svg" not in page
