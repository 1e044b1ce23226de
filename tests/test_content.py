"""What the workbook ships, as `ladder check` proves it: every rung reaches itself, starters fail, answers
and solutions pass.

What was right is kept, as by the command. Drills are proved beside their formats, in tests/interview.
"""

from __future__ import annotations

import pytest
from tiers import sample

from grader import check
from grader.judge.clean import Clean
from grader.workbook import exercises, programs, topics
from grader.workbook.content import content_root

ROOT = content_root()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", sample(topics.names(ROOT), ["vector_add"], "judge", verify=True))
def test_a_ladder_has_no_problems(name: str) -> None:
    assert [str(problem) for problem in check.check_ladder(topics.load(name, ROOT), Clean())] == []


@pytest.mark.parametrize("name", sample(exercises.names(ROOT), ["thread_index"], "judge", verify=True))
def test_an_exercise_has_no_problems(name: str) -> None:
    assert [str(problem) for problem in check.check_exercise(exercises.load(name, ROOT), Clean())] == []


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize("program", programs.discover(ROOT), ids=lambda program: program.name)
def test_a_program_has_no_problems(program: programs.Program) -> None:
    assert [str(problem) for problem in check.check_program(program, Clean())] == []
