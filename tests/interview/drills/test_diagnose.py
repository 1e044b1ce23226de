"""Slow kernels to diagnose: what is proved of each, and the page that is made of it."""

import shutil
from pathlib import Path

import pytest
from scripted_candidate import Candidate, sit

from grader.errors import WarpladderError
from grader.interview import card
from grader.interview.checks import check_drill
from grader.interview.drills import diagnose, drilling, page
from grader.interview.interviewer import WorkbookJudge
from grader.interview.probes.kinds import ChoiceProbe
from grader.interview.probes.posing import pose
from grader.interview.session import Code, Session
from grader.judge.clean import Clean
from grader.workbook import topics

DRILLS = diagnose.FORMAT.discover()
SAMPLE, SCHEDULE = "square-by-square", "ring-of-buffers"


def copied(folder: Path, name: str = SAMPLE) -> Path:
    """A copy of a drill's files; its TOML."""
    for file in diagnose.FORMAT.folder().glob(f"{name}.*"):
        shutil.copy(file, folder)
    return folder / f"{name}.toml"


def problems(file: Path) -> list[str]:
    return [str(problem) for problem in diagnose.prove(diagnose.read_diagnosis(file))]


def test_there_are_fifteen_of_different_limits():
    assert len(DRILLS) >= 15
    assert {drill.limited_by for drill in DRILLS.values()} == {
        "dram",
        "l2",
        "l1",
        "issue",
        "latency",
        "atomics",
        "overlap",
        "special",
    }


def test_the_page_shows_what_was_counted_within_80_columns():
    drill = DRILLS[SAMPLE]
    shown = drill.given({})
    assert "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum                 1,048,576" in shown
    assert "sectors a global store request                                        32" in shown
    assert "out[size_t(column) * M + row]" in shown
    fences = shown.split("```")[1::2]
    assert max(len(line) for fence in fences for line in fence.splitlines()) <= page.WIDTH


@pytest.mark.soak(area="interview")
def test_the_page_of_a_schedule_shows_what_each_engine_does_when():
    drill = DRILLS[SCHEDULE]
    shown = drill.given({})
    assert "calls that wait                                                        4" in shown
    trace = shown.partition("Trace, the first 18 of 192")[2].partition("```")[0].splitlines()[2:20]
    assert [line.split()[4] for line in trace[:3]] == [
        "1",
        "0",
        "1",
    ]  # streams: the launch is in the default one
    fences = shown.split("```")[1::2]
    assert max(len(line) for fence in fences for line in fence.splitlines()) <= page.WIDTH


@pytest.mark.soak(area="interview")
def test_a_schedule_is_proved_and_its_prediction_simulated():
    drill = DRILLS[SCHEDULE]
    assert problems(drill.file) == []
    posed = pose(drill.steps[1].probe, "1")
    assert posed.right(2.45)
    assert not posed.right(1.43)
    assert "(347 + 440 + 347) / 440" in " ".join(posed.explain.split())
    assert "2.58" in posed.explain


@pytest.mark.soak(area="interview")
def test_a_cure_of_a_schedule_that_overlaps_nothing_is_found(tmp_path):
    file = copied(tmp_path, SCHEDULE)
    shutil.copy(file.with_suffix(".schedule.py"), file.with_suffix(".cure.schedule.py"))
    found = problems(file)
    assert any("1.00 times as fast" in problem for problem in found)


def test_no_kernel_says_why_it_is_slow():
    telling = ("conflict", "coalesc", "diverg", "uncoalesced", "spill", "slow", "occupancy")
    for drill in DRILLS.values():
        source = drill.kernel.read_text(encoding="utf-8").lower()
        assert not [word for word in telling if word in source], drill.name


def test_sources_fit_the_page():
    for drill in DRILLS.values():
        for file in (drill.kernel, drill.cure):
            assert max(map(len, file.read_text(encoding="utf-8").splitlines())) <= page.WIDTH - 5, file.name


def test_the_right_limit_is_mostly_not_the_longest():
    """Who always takes the longest of four would be right in a quarter of the drills."""
    probes = [step.probe for drill in DRILLS.values() for step in drill.steps]
    choices = [probe for probe in probes if isinstance(probe, ChoiceProbe)]
    longest = [probe for probe in choices if len(probe.right[0]) > max(map(len, probe.wrong))]
    assert len(longest) <= len(choices) / 4


def test_a_prediction_is_counted_on_the_cure():
    step = DRILLS[SAMPLE].steps[1]
    posed = pose(step.probe, "1")
    assert posed.value == 1024 * 1024 / 8
    assert "Before it was 1,048,576" in posed.explain


def test_a_drill_is_proved():
    assert problems(DRILLS[SAMPLE].file) == []


def test_another_limiter_than_the_declared_one_is_found(tmp_path):
    file = copied(tmp_path)
    file.write_text(file.read_text().replace('limited_by = "l2"', 'limited_by = "dram"'))
    assert any("limited by l2, not dram" in problem for problem in problems(file))


def test_a_cure_that_cures_nothing_is_found(tmp_path):
    file = copied(tmp_path)
    shutil.copy(file.with_suffix(".cu"), file.with_suffix(".cure.cu"))
    found = problems(file)
    assert any("1.00 times as fast" in problem for problem in found)
    assert any("`goal` is False of the kernel and False of its cure" in problem for problem in found)


def test_a_cure_that_is_wrong_is_found(tmp_path):
    file = copied(tmp_path)
    cure = file.with_suffix(".cure.cu")
    cure.write_text(cure.read_text().replace("    __syncthreads();\n", ""))
    (found,) = problems(file)
    assert "race" in found or "syncthreads" in found


def test_a_kernel_without_its_cure_is_refused(tmp_path):
    file = copied(tmp_path)
    file.with_suffix(".cure.cu").unlink()
    with pytest.raises(WarpladderError, match=r"square-by-square\.cure\.cu is missing"):
        diagnose.read_diagnosis(file)


def test_weights_include_mending(tmp_path):
    file = copied(tmp_path)
    file.write_text(file.read_text().replace("weight = 40", "weight = 30"))
    with pytest.raises(WarpladderError, match="90"):
        diagnose.read_diagnosis(file)


def mended(tmp_path: Path, *versions: str, name: str = SAMPLE) -> tuple[Session, Candidate]:
    """A session in which nothing but the kernel, or the schedule, is worked on."""
    candidate = Candidate({}, {f"{name}.mend": versions})
    kept = drilling.begin(diagnose.FORMAT, [DRILLS[name]], 1)
    path = tmp_path / "diagnose-1.json"
    judge = WorkbookJudge("emulator")
    sit(lambda asks: drilling.Drilling(diagnose.FORMAT, DRILLS, asks).run(), kept, path, candidate, judge)
    return kept, candidate


def test_a_kernel_that_reaches_the_goal_earns_the_points(tmp_path):
    kept, candidate = mended(tmp_path, DRILLS[SAMPLE].cure.read_text(encoding="utf-8"))
    code = kept.answer(f"{SAMPLE}.mend")
    assert isinstance(code, Code)
    assert (code.verdict, code.share, code.attempts) == ("pass", 1.0, 1)
    assert any("A cure" in said and "become" in said for said in candidate.read)
    assert card.of_drills([DRILLS[SAMPLE]], kept).earned == 40


@pytest.mark.soak(area="interview")
def test_a_schedule_that_reaches_the_goal_earns_the_points(tmp_path):
    drill = DRILLS[SCHEDULE]
    slow = drill.kernel.read_text(encoding="utf-8").replace("BUFFERS = 4", "BUFFERS = 3")
    kept, candidate = mended(tmp_path, slow, drill.cure.read_text(encoding="utf-8"), name=SCHEDULE)
    code = kept.answer(f"{SCHEDULE}.mend")
    assert isinstance(code, Code)
    assert (code.verdict, code.share, code.attempts) == ("pass", 1.0, 2)
    assert any(
        "Not reached is `engines_busy >= 2.2`: `engines_busy` is 1.4" in said for said in candidate.read
    )
    assert (tmp_path / "diagnose-1.py").is_file()


@pytest.mark.verify
def test_a_kernel_that_is_right_and_as_slow_as_before_does_not(tmp_path):
    slow = DRILLS[SAMPLE].kernel.read_text(encoding="utf-8").replace("ROWS = 8", "ROWS = 16")
    kept, candidate = mended(tmp_path, slow)
    code = kept.answer(f"{SAMPLE}.mend")
    assert isinstance(code, Code)
    assert (code.verdict, code.share) == ("pass", 0.0)
    assert any(
        "`store_sectors` is 1048576" in said or "`store_sectors` is 1,048,576" in said
        for said in candidate.read
    )


@pytest.mark.soak(area="interview")
@pytest.mark.parametrize("name", DRILLS)
def test_every_drill_is_proved(name):
    drill = DRILLS[name]
    assert [str(problem) for problem in check_drill(drill, topics.discover(), Clean())] == []
    assert [str(problem) for problem in diagnose.prove(drill)] == []
    fences = drill.given({}).split("```")[1::2]
    assert max(len(line) for fence in fences for line in fence.splitlines()) <= page.WIDTH + 2
