"""The book's chapters: their pictures are drawn, and no notebook is left out."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from book_extensions import extension
from lab_device import device_of_its_own

from grader.workbook import topics

__all__ = ["device_of_its_own"]  # the pictures of some chapters launch kernels

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = sorted((ROOT / "book" / "machine").glob("*.md"))
LESSON_PAGES = sorted((ROOT / "lessons").glob("*/lesson.md"))
DRAWN = re.compile(r"^```\{drawn\} (\w+)\.(\w+)$", re.MULTILINE)
SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)


def drawn(chapter: Path) -> list[tuple[str, str]]:
    return DRAWN.findall(chapter.read_text(encoding="utf-8"))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_has_two_pictures_or_more_and_names_sources(chapter: Path) -> None:
    assert len(drawn(chapter)) >= 2
    assert "](https://" in chapter.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("module", "function"),
    sorted({name for page in (*CHAPTERS, *LESSON_PAGES) for name in drawn(page)}),
    ids=".".join,
)
def test_a_picture_is_complete_and_the_same_each_time(module: str, function: str) -> None:
    draw = getattr(extension(f"figures.{module}"), function)
    picture = draw()
    assert picture == draw()
    assert SVG.findall(picture)
    for svg in SVG.findall(picture):
        root = ElementTree.fromstring(svg)
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        for name in ("title", "desc"):
            assert (root.findtext(f"{{http://www.w3.org/2000/svg}}{name}") or "").strip()
        for text in root.iter("{http://www.w3.org/2000/svg}text"):
            assert 0 <= float(text.attrib["x"]) <= width
            assert 0 <= float(text.attrib["y"]) <= height


def test_every_notebook_that_belongs_to_no_topic_hangs_below_one_chapter() -> None:
    below = re.findall(r"^```\{notebooks\} (.+)$", "\n".join(map(Path.read_text, CHAPTERS)), re.MULTILINE)
    named = [name for names in below for name in names.split()]
    there = {path.stem for path in (ROOT / "notebooks").glob("*.md")}
    assert sorted(named) == sorted(there - set(topics.discover(ROOT)))


def test_every_topic_with_a_lesson_is_on_the_way() -> None:
    way = (ROOT / "book" / "start.md").read_text(encoding="utf-8").split("```{way}")[1].split("```")[0]
    on_it = {line.split()[0] for line in way.strip().splitlines()}
    assert {
        name for name in topics.discover(ROOT) if (ROOT / "lessons" / name / "lesson.md").is_file()
    } <= on_it


LESSONS = [name for name, topic in topics.discover(ROOT).items() if topic.writes == "kernel"]


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_begins_with_its_naive_kernel(name: str) -> None:
    text = (ROOT / "lessons" / name / "lesson.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
    (naive,) = [title for title in titles if title.startswith("00: ")]
    assert titles.index(naive) < titles.index("The bound") < titles.index(titles[-1])
    rungs = [title for title in titles if re.match(r"\d\d", title)]
    counts = text.find("\n| 00")  # a table with a row a rung
    assert counts == -1 or counts > text.index(f"## {rungs[-1]}"), "tables of counts come after the rungs"
