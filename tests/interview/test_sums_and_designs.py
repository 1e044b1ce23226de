"""Sums on paper and designs: how many there are, where formulas come from, and one design played."""

import ast
import re
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from knowing import Knowing
from scripted_candidate import Candidate, sit

from grader.analysis.devices import named
from grader.errors import WarpladderError
from grader.interview import card
from grader.interview.drills.design import FORMAT as DESIGN
from grader.interview.drills.design import Design, read_design
from grader.interview.drills.drill import Drill
from grader.interview.drills.drilling import Drilling, begin
from grader.interview.drills.estimate import FORMAT as ESTIMATE
from grader.interview.driving import BrokenOff
from grader.interview.probes.posing import pose
from grader.interview.prompts import Prompt
from grader.interview.reading import LEVELS
from grader.interview.session import Session, load

SEED = 11
NAME = "chat-service"
PLAN = f"{NAME}.plan"


@pytest.fixture(scope="module")
def designs() -> dict[str, Design]:
    return DESIGN.discover()


def test_there_are_sums_enough_and_of_all_levels() -> None:
    levels = Counter(drill.level for drill in ESTIMATE.discover().values())
    assert levels.total() >= 60
    assert all(levels[level] >= 5 for level in LEVELS)


def test_there_are_designs_enough(designs: dict[str, Design]) -> None:
    assert len(designs) >= 8
    assert len({drill.level for drill in designs.values()}) >= 3


def answers(drill: Drill, drawn: dict[str, object]) -> dict[str, float]:
    """The numbers of a drill's steps, of what is drawn."""
    return {step.probe.name: float(pose(step.probe, "1", drawn).value or 0) for step in drill.steps}


def test_a_graph_is_faster_than_launches_that_the_host_cannot_keep_ahead() -> None:
    drill = ESTIMATE.discover()["graph-of-a-decoding-step"]
    for values in product(*drill.draw.values()):
        found = answers(drill, dict(zip(drill.draw, values, strict=True)))
        assert found["work_ms"] < found["graph_ms"] < 0.9 * found["launched_ms"]


def test_servers_have_the_time_for_prompts_and_tokens(designs: dict[str, Design]) -> None:
    given = {"kv": 2, "arrivals": 20, "prompt": 1000, "output": 600, "tpot": 30}
    found = answers(designs[NAME], given)
    assert (found["servers"], found["enough"]) == (2, 3)
    assert found["step_ms"] == pytest.approx(21.2 + 15.3, abs=0.05)


@pytest.mark.parametrize("drill", ESTIMATE.discover().values(), ids=lambda drill: drill.name)
def test_a_sum_is_short(drill: Drill) -> None:
    assert 1 <= len(drill.steps) <= 3
    assert drill.minutes <= 3


BOARD = re.compile(
    r"(?P<name>\S+) \((?P<tflops>[\d.]+) TFLOP/s of (?P<what>FP32|BF16), (?P<gbs>[\d,]+) GB/s\)"
)


def test_boards_are_given_with_the_figures_of_their_datasheets() -> None:
    boards = {board for drill in ESTIMATE.discover().values() for board in drill.draw.get("board", ())}
    given = [found for board in boards if (found := BOARD.fullmatch(str(board)))]
    assert len(given) >= 6
    for board in given:
        spec = named(board["name"])
        peak = spec.peak_flop if board["what"] == "FP32" else spec.peak_tensor
        assert float(board["tflops"]) == pytest.approx(peak / 1e12, rel=1e-3)
        assert float(board["gbs"].replace(",", "")) == spec.peak_dram / 1e9


def test_every_answer_of_a_probe_says_where_its_formula_comes_from() -> None:
    for path in sorted([*ESTIMATE.folder().glob("*.py"), *DESIGN.folder().glob("*.py")]):
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(function, ast.FunctionDef) and not function.name.startswith("_"):
                assert ast.get_docstring(function), f"{path.name}: {function.name}"


def test_a_design_takes_figures_and_a_plan(designs: dict[str, Design]) -> None:
    for drill in designs.values():
        assert sum(step.weight for step in drill.steps) + drill.question_weight == 100
        assert sum(point.weight for point in drill.points) == 100


class Knows:
    """Knows all answers of a design, and says its model answer."""

    def __init__(self, drill: Design) -> None:
        self.drill = drill
        self.of_points = Knowing([probe for point in drill.points for probe in point.probes], SEED)

    def __call__(self, asked: Prompt) -> str:
        if asked.step == PLAN:
            return self.drill.answer
        for step in self.drill.steps:
            if asked.step == f"{NAME}.{step.probe.name}":
                return pose(step.probe, f"{SEED} {asked.step}", self.drill.drawn(SEED)).answer
        return self.of_points(asked)


def play(drill: Design, candidate: Candidate, path: Path) -> Session:
    kept = begin(DESIGN, [drill], SEED)
    return sit(lambda asks: Drilling(DESIGN, {drill.name: drill}, asks).run(), kept, path, candidate)


def test_a_design_is_played_from_its_figures_to_its_plan(designs: dict[str, Design], tmp_path: Path) -> None:
    drill = designs[NAME]
    candidate = Candidate(Knows(drill))
    kept = play(drill, candidate, tmp_path / "session.json")
    probes = [f"{PLAN}.{number}.probe" for number in range(len(drill.points))]
    assert candidate.asked == [*(f"{NAME}.{step.probe.name}" for step in drill.steps), PLAN, *probes]
    assert [len(points) for _, points in candidate.looked_back] == [len(drill.steps), len(drill.points)]
    found = card.of_drills([drill], kept)
    assert (found.earned, found.worth) == (100, 100)
    plan = found.sections[0].lines[-1]
    assert (plan.title, plan.worth, plan.earned) == ("plan", drill.question_weight, drill.question_weight)
    assert all(point.confirmed for point in plan.points)


def test_figures_alone_earn_their_share_and_silence_nothing(
    designs: dict[str, Design], tmp_path: Path
) -> None:
    drill, knows = designs[NAME], Knows(designs[NAME])
    silent = Candidate(lambda asked: "skip" if asked.step == PLAN else knows(asked))
    found = card.of_drills([drill], play(drill, silent, tmp_path / "session.json"))
    assert found.earned == 100 - drill.question_weight
    assert PLAN in silent.asked
    assert f"{PLAN}.0.probe" not in silent.asked


def test_who_comes_back_for_the_plan_is_given_the_requirements_again(
    designs: dict[str, Design], tmp_path: Path
) -> None:
    drill, path = designs[NAME], tmp_path / "session.json"
    with pytest.raises(BrokenOff):
        play(drill, Candidate(Knows(drill), leaves_at=PLAN), path)
    again = Candidate(Knows(drill))
    sit(lambda asks: Drilling(DESIGN, {NAME: drill}, asks).run(), load(path), path, again)
    assert "**Required:**" in again.read[0]
    assert again.asked[0] == PLAN


def test_the_figures_are_told_before_the_plan_and_not_asked_again(
    designs: dict[str, Design], tmp_path: Path
) -> None:
    drill, knows = designs[NAME], Knows(designs[NAME])
    turned = iter(["back"])
    candidate = Candidate(lambda asked: next(turned, drill.answer) if asked.step == PLAN else knows(asked))
    play(drill, candidate, tmp_path / "session.json")
    assert candidate.asked.count(PLAN) == 2
    assert candidate.asked.count(f"{NAME}.{drill.steps[-1].probe.name}") == 1


def test_weights_of_figures_and_plan_sum_to_100(designs: dict[str, Design], tmp_path: Path) -> None:
    wrong = tmp_path / f"{NAME}.toml"
    text = designs[NAME].file.read_text(encoding="utf-8")
    wrong.write_text(text.replace("question_weight = ", "question_weight = 1"), encoding="utf-8")
    with pytest.raises(WarpladderError, match="sum to"):
        read_design(wrong)
