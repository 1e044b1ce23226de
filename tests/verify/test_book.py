"""The built book as files: it is complete, its links hold, and it refers to nothing that would be fetched elsewhere."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from pages import BOOK, ROOT, is_elsewhere, page, pages, target
from tiers import sample

from grader.report import pictures
from grader.results import Climb, load
from grader.workbook import topics, units
from grader.workbook.launches import spec, tensor_map

pytestmark = pytest.mark.verify

TOPICS = topics.discover(ROOT)
NOTEBOOKS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.md"))
RECORDS = sorted((ROOT / "measurements").glob("*/*.json"))
HIGHLIGHTED = re.compile(
    r'<div class="highlight-(\w+)[^>]*><div class="highlight"><pre[^>]*>(.*?)</pre>', re.DOTALL
)
FETCHED_BY_CSS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


@pytest.fixture(autouse=True, scope="module")
def built() -> None:
    if not (BOOK / "index.html").is_file():
        pytest.fail("there is no book in build/book/html: `make book` writes it")


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_has_a_page_with_the_difference_from_each_rung_to_the_next(topic: str) -> None:
    text = page(f"lessons/{topic}/lesson.html").text
    ids = [rung.id for rung in TOPICS[topic].rungs]
    for before, after in itertools.pairwise(ids):
        assert f"What changes from {before} to {after}" in text


@pytest.mark.parametrize("topic", [name for name in TOPICS if TOPICS[name].writes == "kernel"])
def test_each_rung_has_its_picture_before_what_it_changes(topic: str) -> None:
    text = page(f"lessons/{topic}/lesson.html").text
    ids = [rung.id for rung in TOPICS[topic].rungs]
    places = [text.index(f"{rung}: what one block accesses") for rung in ids]
    changes = [
        text.index(f"What changes from {before} to {after}") for before, after in itertools.pairwise(ids)
    ]
    assert places == sorted(places)
    assert all(picture < change for picture, change in zip(places[1:], changes, strict=True))


@pytest.mark.parametrize("topic", TOPICS)
def test_from_each_kernel_one_gets_to_the_next_and_back(topic: str) -> None:
    rungs = [rung.path.relative_to(ROOT).with_suffix(".html").as_posix() for rung in TOPICS[topic].rungs]
    way = [f"lessons/{topic}/lesson.html", *rungs]
    for before, here in itertools.pairwise(way):
        assert (BOOK / before).resolve() == _turned("left-prev", here)
    for here, after in itertools.pairwise(rungs):
        assert (BOOK / after).resolve() == _turned("right-next", here)


def test_programs_stand_beside_each_other_section_by_section() -> None:
    _, *shown = (BOOK / "book/machine/host.html").read_text(encoding="utf-8").split('<div class="beside ')
    assert len(shown) >= 10
    for section in shown:
        languages = re.findall(r'class="highlight-(\w+)', section)
        assert languages[:2] == ["cuda", "python"]


def _turned(arrow: str, name: str) -> Path:
    """The page that an arrow at the foot of a page leads to."""
    source = (BOOK / name).read_text(encoding="utf-8")
    found = re.search(rf'class="{arrow}"\s+href="([^"]+)"', source)
    assert found, f"{name} has no {arrow}"
    return ((BOOK / name).parent / found[1]).resolve()


def test_the_map_says_of_every_notebook_when_to_open_it() -> None:
    item = page("book/ladders/notebooks.html")
    table = item.path.read_text(encoding="utf-8").partition("<table")[2].partition("</table>")[0]
    for notebook in (ROOT / "notebooks").glob("*.md"):
        assert f"notebooks/{notebook.stem}.html" in table
    assert table.index("01_coalesced_writes") < table.index("banks.html") < table.index("hgemm.html")


@pytest.mark.parametrize("notebook", sample(NOTEBOOKS, ["transpose"], "book"))
def test_kernels_in_a_notebook_are_coloured_as_cuda_and_hints_are_folded(notebook: str) -> None:
    """Hints are what its cells show, so that it has to have run: in `make verify`, one has."""
    made = (BOOK / "notebooks" / f"{notebook}.html").read_text(encoding="utf-8")
    for block in re.findall(
        r'<div class="highlight-(\w+)[^>]*><div class="highlight"><pre>(.*?)</pre>', made, re.S
    ):
        if "%%kernel" in block[1] and "__global__" in block[1]:
            assert block[0] == "cuda"
    assert "lab.question" not in made
    assert "<summary>Hint</summary>" in made


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_record_is_shown_with_the_time_of_every_rung(record: Path) -> None:
    climb = load(record, Climb)
    for name in (f"lessons/{climb.topic}/lesson.html", "book/reference/measurements.html"):
        text = page(name).text
        for rung in climb.rungs:
            assert rung.id in text
            assert units.seconds(rung.time_s, rung.time_source) in text


@pytest.mark.parametrize(
    "source",
    [
        *sorted((ROOT / "lessons").glob("questions/*.toml")),
        *sorted((ROOT / "lessons").glob("*/interview.toml")),
        *sorted((ROOT / "notebooks").glob("*.md")),
    ],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_questions_rounds_and_notebooks_have_pages(source: Path) -> None:
    assert page(source.relative_to(ROOT).with_suffix(".html").as_posix()).text


@pytest.mark.parametrize(
    ("name", "entries"), [("answers", "questions/*.toml"), ("coding-answers", "*/interview.toml")]
)
def test_model_answers_stand_on_one_page_unfolded(name: str, entries: str) -> None:
    file = f"book/interview/{name}.html"
    text = " ".join(page(file).text.split())
    titles = [tomllib.loads(path.read_text("utf-8"))["title"] for path in (ROOT / "lessons").glob(entries)]
    assert titles
    assert not [title for title in titles if title.replace("'", "’") not in text]
    assert "<details" not in (BOOK / file).read_text(encoding="utf-8").split('id="main-content"')[1]


@pytest.mark.parametrize("topic", TOPICS)
def test_a_lesson_is_in_the_sidebar_of_the_first_page(topic: str) -> None:
    assert any(link.endswith(f"lessons/{topic}/lesson.html") for link in page("book/index.html").links)


def test_every_link_within_the_book_leads_somewhere() -> None:
    ids = {item.path.resolve(): item.ids for item in pages()}
    broken = []
    for item in pages():
        for link in item.links:
            if is_elsewhere(link) or link.startswith("mailto:"):
                continue
            path, fragment = target(item, link)
            if not path.is_file() or (fragment and path in ids and fragment not in ids[path]):
                broken.append(f"{item.name}: {link}")
    assert not broken


def test_no_page_fetches_anything_from_elsewhere() -> None:
    fetched = [f"{item.name}: {load}" for item in pages() for load in item.loads if is_elsewhere(load)]
    for sheet in BOOK.rglob("*.css"):
        for found in FETCHED_BY_CSS.finditer(sheet.read_text(encoding="utf-8")):
            if is_elsewhere(found[1] or found[2]):
                fetched.append(f"{sheet.relative_to(BOOK)}: {found[0]}")
    assert not fetched


def test_the_reference_has_all_keys_of_topics_and_of_launch_blocks() -> None:
    text = page("book/reference/files.html").text
    tables = {"tensor_map", "side_step", "scratch", "dtype", "check_sizes"}
    keys = {*topics._KEYS, *spec.LAUNCH_KEYS, *tensor_map._KEYS, *tables}
    assert not [key for key in sorted(keys) if not re.search(rf"\b{key}\b", text)]


def test_the_reference_has_every_command() -> None:
    said = subprocess.run(
        [str(Path(sys.executable).with_name("ladder")), "--help"],
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout  # fmt: skip
    commands = re.findall(r"^  (\w+)  ", said.split("Commands:")[1], re.MULTILINE)
    text = page("book/reference/command-line.html").text
    assert commands
    assert not [command for command in commands if f"ladder {command} --help" not in text]


def test_the_picture_in_the_readme_is_that_of_the_record() -> None:
    drawn = pictures.ladder(load(ROOT / "measurements" / "h200" / "gemm.json", Climb))
    assert (ROOT / "docs" / "gemm.svg").read_text(encoding="utf-8") == drawn, "`make readme` draws it"


def test_links_of_the_readme_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not is_elsewhere(link)]
    assert named
    headings = {
        re.sub(r"[^\w-]", "", line.replace(" ", "-")).lower() for line in re.findall(r"^#+ (.+)$", text, re.M)
    }
    for link in named:
        file, _, section = link.partition("#")
        assert (ROOT / file).is_file() if file else section in headings, link


def test_a_formula_with_an_unknown_command_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Title\n\n$\\frac{1}{2}$ and $\\notacommand$\n", encoding="utf-8")
    (tmp_path / "conf.py").write_text(
        f"import sys; sys.path.insert(0, {str(ROOT / 'book' / '_ext')!r})\n"
        'extensions = ["myst_parser", "mathml"]\nmyst_enable_extensions = ["dollarmath"]\n'
        'html_math_renderer = "mathml"\n',
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(tmp_path), str(tmp_path / "html")],
        stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert r"\notacommand" in done.stderr
    assert r"\frac" not in done.stderr
