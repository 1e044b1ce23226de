"""Machine code to read: listings are what the compiler gives, and steps count in them."""

import re
import shutil
from collections import Counter
from pathlib import Path

import listings
import pytest

from grader.errors import WarpladderError
from grader.interview.checks import check_drill
from grader.interview.drills import listing, reading
from grader.interview.probes.posing import pose
from grader.judge.clean import Clean
from grader.lab.machine_code import OPERATIONS, machine_code
from grader.workbook import topics

DRILLS = reading.FORMAT.discover()
SASS = [name for name, drill in DRILLS.items() if listing.of(drill.file).suffix == listing.SASS]


def copied(folder: Path, name: str) -> Path:
    """A copy of a drill's files; its TOML."""
    for file in reading.FORMAT.folder().glob(f"{name}.*"):
        shutil.copy(file, folder)
    return folder / f"{name}.toml"


def answers(name: str) -> dict[str, str]:
    """What is right, by step: of choices the statement."""
    found = {}
    for step in DRILLS[name].steps:
        posed = pose(step.probe, "1")
        found[step.probe.name] = posed.options["abcd".index(posed.answer)] if posed.options else posed.answer
    return found


def test_there_are_fifteen_and_each_can_be_asked():
    assert len(DRILLS) >= 15
    known = topics.discover()
    for drill in DRILLS.values():
        assert [str(problem) for problem in check_drill(drill, known, Clean())] == []


def test_a_listing_is_shown_with_numbers_within_80_columns():
    for drill in DRILLS.values():
        lines = drill.given({}).split("```")[1].splitlines()[1:]
        assert max(map(len, lines)) <= 74, drill.name
        assert lines[0].startswith(("  1  // PTX by NVRTC", "  1  // SASS by ptxas")), drill.name


def test_answers_are_counted():
    assert answers("inner-product")["products"] == "8"
    assert answers("inner-product")["unrolled"] == "2"
    assert answers("twenty-four-numbers")["stored"] == "32"
    assert answers("turned-tile") | {"computes": ""} == {
        "row": "33",
        "wavefronts": "1",
        "barrier": "25",
        "computes": "",
    }


def test_ptx_is_what_the_compiler_gives():
    assert list(reading.prove(DRILLS["axpy-in-ptx"])) == []


def test_another_source_gives_another_listing(tmp_path):
    file = copied(tmp_path, "axpy-in-ptx")
    source = file.with_suffix(".cu")
    source.write_text(source.read_text().replace("a * x[i] + y[i]", "a * x[i]"))
    (problem,) = reading.prove(reading.read_reading(file))
    assert "benchmarks/listings.py axpy-in-ptx" in str(problem)


def test_sass_without_encodings_labels_and_padding():
    text = """
.text.k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;          /* 0x00000a00ff017b82 */
                                                                   /* 0x000fe20000000800 */
.L_x_0:
        /*0010*/              @!P0 STL [R1+0x1c], R5 ;   (*"SpillRefill"*)  /* 0x0 */
        /*0020*/              @P0  BRA `(.L_x_0) ;                 /* 0x0 */
.L_x_1:
        /*0030*/                   EXIT ;                          /* 0x0 */
.L_x_2:
        /*0040*/                   BRA `(.L_x_2);                  /* 0x0 */
        /*0050*/                   NOP;                            /* 0x0 */
"""
    assert listing.from_sass(text, "release 13.0, V13.0.88").splitlines()[1:] == [
        "  /*0000*/ LDC R1, c[0x0][0x28]",
        ".L_x_0:",
        "  /*0010*/ @!P0 STL [R1+0x1c], R5",
        "  /*0020*/ @P0 BRA `(.L_x_0)",
        "  /*0030*/ EXIT",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("marks = 'bar.sync'", "marks = 'no such line'"), "is in no line"),
        (("marks = 'bar.sync'", ""), "`marks` is missing"),
        (("text = ", "excerpt = ['nowhere', 'ret']\ntext = "), "excerpt is not in the listing"),
        (("weight = 25", "weight = 26"), "101"),
    ],
)
def test_a_broken_drill_says_what_is_wrong(tmp_path, change, message):
    file = copied(tmp_path, "turned-tile")
    file.write_text(file.read_text().replace(*change, 1))
    with pytest.raises(WarpladderError, match=message):
        reading.read_reading(file)


def test_a_long_listing_is_cut(tmp_path):
    file = copied(tmp_path, "inner-product")
    file.write_text(re.sub("excerpt = .*", "", file.read_text()))
    with pytest.raises(WarpladderError, match="67 lines are shown, and 40 are the most"):
        reading.read_reading(file)


@pytest.mark.soak(area="interview")
@pytest.mark.parametrize("name", DRILLS)
def test_every_listing_is_of_its_source(name):
    """PTX to the letter; of SASS the operations, since nvdisasm need not be there."""
    drill = DRILLS[name]
    assert [str(problem) for problem in reading.prove(drill)] == []
    if name in SASS:
        (counted,) = machine_code(listing.compiled(drill.source).cubin).kernels.values()
        text = listing.of(drill.file).read_text(encoding="utf-8")
        shown = Counter(re.findall(r"\*/ (?:@!?U?P\w+ )?([A-Z0-9]+)", text))
        for operation in set(OPERATIONS.values()) - {"NOP", "BRA", "EXIT"}:
            assert counted[operation] == shown[operation], operation


@pytest.mark.soak(area="interview")
@pytest.mark.parametrize("name", SASS)
def test_sass_is_what_nvdisasm_gives(name):
    file = listing.of(DRILLS[name].file)
    assert listings.made(file) == file.read_text(encoding="utf-8")
