"""Results as pages: complete, well-formed, and saying what the result says."""

import re
from dataclasses import replace
from html import unescape

import pytest
from well_formed import checked

from grader.report import pages
from grader.results import (
    Accesses,
    ArrayAccess,
    CaseResult,
    ClaimResult,
    Climb,
    CodeLine,
    Device,
    FindingResult,
    Grade,
    Hint,
    LaunchAccesses,
    LaunchProfile,
    LineProfile,
    Profile,
    Provenance,
    Reproduce,
    SourceLine,
    TimeLimit,
    load,
)
from grader.workbook import topics
from grader.workbook.content import content_root


def record(topic: str) -> Climb:
    return load(content_root() / "measurements" / "h200" / f"{topic}.json", Climb)


def test_a_climb_has_its_ladder_its_roofs_and_every_claim() -> None:
    climb = record("gemm")
    page = checked(pages.climb(climb, "Matrix <product>"))
    assert "<h1>Matrix &lt;product&gt;</h1>" in page
    assert page.count("<svg") == 2
    for rung in climb.rungs:
        assert rung.id in page
        for claim in rung.claims:
            assert claim.text in unescape(page)
    assert "† for understanding" not in page
    assert "compute to memory" in page
    assert "NVRTC 13.0" in page
    assert "not measured" not in page


def test_a_ladder_of_schedules_has_its_timelines() -> None:
    climb = record("streams")
    page = checked(pages.climb(climb, "Overlap"))
    assert page.count("<svg") == 1 + sum(bool(rung.timeline) for rung in climb.rungs)
    assert "Under the roofs" not in page


def test_a_rung_that_failed_says_why() -> None:
    climb = record("transpose")
    broken = replace(climb.rungs[1], verdict="fail", reason="`B`[3, 4] is 12", time_s=None, time_source=None)
    modelled = replace(climb.rungs[0], time_source="modelled")
    page = checked(pages.climb(replace(climb, rungs=[modelled, broken]), "Transpose"))
    assert "`B`[3, 4] is 12" in page
    assert "modelled from what the emulator counted, not measured" in page


def test_a_ladder_that_computes_nothing_explains_its_signs_and_has_no_ratios() -> None:
    page = checked(pages.climb(record("transpose"), "Transpose"))
    assert "† for understanding, not for speed" in page
    assert "Under the roofs" in page
    assert "compute to memory" not in page


@pytest.mark.parametrize("reached", ["01_coalesced_writes", None])
def test_a_grade_shows_points_claims_and_the_next_step(reached: str | None) -> None:
    topic = topics.load("transpose")
    claims = [
        ClaimResult("every element is read once", True, 1.0, "00_naive", 10, "x <= 1", 1.0),
        ClaimResult("no conflicts", False, 31.0, "03_padded_tile", 20, "y <= 0", 0.0),
    ]
    finding = FindingResult("race", 2, "thread 1 reads what thread 0 writes <now>", 126)
    again = Reproduce("transpose", "mine.cu", {"M": 33, "N": 31}, 1)
    cases = [
        CaseResult({"M": 1, "N": 1}, 1, "pass", 0.0, None),
        CaseResult({"M": 33, "N": 31}, 1, "fail", None, None, "exact", "wrong", again),
    ]
    result = Grade(
        "transpose", "mine.cu", "pass" if reached else "fail", None if reached else "Line 2: a race.", reached,
        10, 100, cases, [finding], claims, [Hint("02_shared_tile", "Use a tile.")],
        counters={"smsp__inst_executed.sum": 1234, "zero": 0}, counter_source="emulated",
        time_limits=[TimeLimit("01_coalesced_writes", 2e-3, held=False)],
    )  # fmt: skip
    page = checked(pages.grade(result, topic, ["first", "  total += tile[x];"]))
    assert "10 of 100 points" in page
    assert "✗ time: not known; 01_coalesced_writes asks for 2 ms, a tenth more than" in page
    assert "total += tile[x];" in page
    assert "&lt;now&gt;" in page
    assert "Use a tile." in page
    assert "<code>ladder grade transpose mine.cu --set M=33 --set N=31 --seed 1</code>" in page
    assert "1,234" in page
    assert "zero<" not in page
    assert ('aria-current="step">01_coalesced_writes' in page) == (reached is not None)
    assert ("No rung is reached yet." in page) == (reached is None)
    assert "(31 found; none allowed)" in page
    assert (">10/10<" in page) == (reached is not None)


def _profile(lines: list[LineProfile], counters: dict[str, int] | None = None) -> Profile:
    launch = LaunchProfile(
        "copy<4>", [8, 1, 1], [256, 1, 1], 4096, 42, 0, 0, 0.625, "registers", 1024, counters or {"x": 1}, "emulated",
        lines, [],
    )  # fmt: skip
    return Profile(
        "transpose", "mine.cu", Device("emulator", "NVIDIA H200 (emulated)", "sm_90a"), {"M": 8, "N": 8}, "pass",
        None, [launch], Provenance("0.1.0", "3.12", "2.4"),
    )  # fmt: skip


def test_a_profile_shows_each_source_line_s_share_and_the_occupancy() -> None:
    counters = {"smsp__inst_executed.sum": 300}
    lines = [
        LineProfile(0, "", {"smsp__inst_executed.sum": 100}),
        LineProfile(2, "C[i] = A[i] < 0;", counters),
    ]
    result = _profile(lines, counters)
    page = checked(pages.profile(result, ["// head", "C[i] = A[i] < 0;"]))
    assert "copy&lt;4&gt;" in page
    assert "--share: 75.0%" in page
    assert "--share: 25.0%" in page
    assert "code without a line" in page
    assert page.count("C[i] = A[i] &lt; 0;") == 1
    assert "5 blocks of 40 warps in all on an SM" in page
    assert "At 40 registers a thread or less a sixth block would fit" in page
    unknown = replace(result, device=Device("gpu", "NVIDIA V100", "sm_70"))
    assert "<svg" not in checked(pages.profile(unknown, []))


def test_the_line_with_the_conflicts_glows_and_not_the_one_with_most_instructions() -> None:
    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
    wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
    lines = [
        LineProfile(1, "", {"smsp__inst_executed.sum": 1000}),
        LineProfile(2, "", {"smsp__inst_executed.sum": 40, conflicts: 961, wavefronts: 990}),
        LineProfile(
            3, "", {"smsp__inst_executed.sum": 1, "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum": 1234}
        ),
    ]
    result = _profile(lines)
    page = checked(pages.profile(result, ["sum += a * b;", "a = tile[x][y];", "sums[i] = 0;"]))
    glowing = dict(re.findall(r'--share: ([0-9.]+)%">([^<]+)<', page))
    assert glowing["20.0"] == "sum += a * b;"
    assert glowing["80.0"] == "a = tile[x][y];"
    assert ">961<" in page
    assert '<th scope="col">local</th>' in page
    assert ">1.23k<" in page


def test_a_program_s_page_has_its_kernels_lines_alone_and_those_of_headers_with_their_calls() -> None:
    executed = "smsp__inst_executed.sum"
    lines = [
        LineProfile(3, "k2();", {executed: 10}),
        LineProfile(8, "load();", {executed: 20}, "a.cuh", [SourceLine(3)]),
        LineProfile(8, "load();", {executed: 60}, "a.cuh", [SourceLine(4, "b.cuh")]),
    ]
    result = replace(_profile(lines), topic="", problem={})
    source = ["int main() {}", "// device", "  k2();", "// end"]
    page = checked(pages.profile(result, source))
    assert [line in page for line in source] == [False, False, True, False]
    assert 'class="left">a.cuh</th>' in page
    assert page.count(">load();<") == 1
    assert page.index("called in line 4 of b.cuh: 75 %") < page.index("called in line 3: 25 %")
    assert "// end" in checked(pages.profile(_profile(lines), source))


def test_a_profile_s_page_has_code_below_its_line() -> None:
    executed = "smsp__inst_executed.sum"
    result = _profile([LineProfile(2, "a = b;", {executed: 100})])
    (launch,) = result.launches
    code = [
        CodeLine("44", "ld.global.f32 %f1;", 2, None, {executed: 75}),
        CodeLine("45", "EXIT", 2, None, None),
    ]
    page = checked(
        pages.profile(replace(result, launches=[replace(launch, code=code)]), ["// head", "a = b;"])
    )
    assert re.findall(r'class="text code soft" style="--share: ([0-9.]+)%">([^<]+)<', page) == [
        ("75.0", "  44 ld.global.f32 %f1;"),
        ("0.0", "  45 EXIT"),
    ]
    assert page.index("a = b;") < page.index("ld.global.f32")
    assert "Below a line its PTX" in page


def test_profile_and_grade_draw_what_a_block_accesses() -> None:
    item = ArrayAccess("tile", "shared", "read", [4, 4], [0, 16], [0, 4], [0, 1])
    launch = LaunchAccesses("copy<4>", [2, 1, 1], [16, 1, 1], [1, 0, 0], [item])
    accesses = Accesses("transpose", "folder/<mine>.cu", {"M": 4, "N": 4}, [launch])
    provenance = Provenance("0.1.0", "3.12", "2.4")
    device = Device("emulator", "NVIDIA H200 (emulated)", "sm_90a")
    profile = Profile("transpose", "mine.cu", device, {"M": 8, "N": 8}, "pass", None, [], provenance)
    grade = Grade("transpose", "mine.cu", "pass", None, None, 0, 100, [], [], [], [])
    for drawn, plain in (
        (pages.profile(profile, [], accesses), pages.profile(profile, [])),
        (
            pages.grade(grade, topics.load("transpose"), [], accesses),
            pages.grade(grade, topics.load("transpose"), []),
        ),
    ):
        assert "&lt;mine&gt;.cu: what one block accesses" in checked(drawn)
        assert "what one block accesses" not in checked(plain)


def test_a_schedule_s_profile_is_its_timeline() -> None:
    rung = record("streams").rungs[3]
    result = Profile(
        "streams", "mine.py", Device("gpu", "NVIDIA H200", "sm_90a"), {"N": 8}, "pass", None, [],
        Provenance("0.1.0", "3.12", "2.4"), rung.timeline, "measured",
    )  # fmt: skip
    assert checked(pages.profile(result, [])).count("<svg") == 1
