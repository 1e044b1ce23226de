"""Pages of the interview, one a TOML file: lessons/questions/<name>.toml and lessons/<topic>/interview.toml.
`{model-answers}` puts the answers of many on one page.

The engine's own loader reads them. What readers should say for themselves first is folded, and each point has one of
its probes with one draw, answered by the question's own functions.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx
from sphinx.directives.other import TocTree
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from grader.errors import WarpladderError
from grader.interview import bank, rounds
from grader.interview.bank import Entry, KernelQuestion, Question
from grader.interview.points import Point
from grader.interview.probes.posing import LETTERS, Posed, pose
from grader.interview.rounds import Interview, Round
from grader.workbook import topics

LOGGER = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parents[2]
FENCE = "::::::"  # longer than any within an answer


class QuestionParser(MystParser):
    """Reads an entry's TOML as the Markdown page that shows it."""

    supported: ClassVar[tuple[str, ...]] = ("question",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        path = Path(document["source"]).resolve()
        document.settings.env.note_dependency(str(path.with_suffix(".py")))
        try:
            text = page(read(path))
        except WarpladderError as error:
            LOGGER.warning("%s", error, location=document.settings.env.docname)
            text = f"# {path.stem}\n"
        super().parse(text, document)


def read(path: Path) -> Question | Interview:
    """The entry of a file; raises WarpladderError where it is not complete."""
    if path.name == rounds.FILE:
        return rounds.read_interview(topics.load(path.parent.name, ROOT))
    return bank.read_question(path)


def page(entry: Question | Interview) -> str:
    """The Markdown of an entry's page."""
    kind = "interview" if isinstance(entry, Interview) else "question"
    labels = "\n".join(f"({label})=" for label in (f"{kind}-{entry.name}", entry.id) if label)
    parts = [f"{labels}\n# {entry.title}", _asked(entry), folded("The answer", entry.answer)]
    parts += [folded("The points that count", _points(entry.points)), *_further(entry)]
    parts += ["## What it is asked for", entry.looks_for, "## What is asked next"]
    for follow_up in entry.follow_ups:
        parts += [follow_up.ask, folded("The answer", follow_up.answer)]
    parts.append("## Answers that circulate, and are wrong")
    parts += [f"*“{error.says.strip()}”* {error.correction}" for error in entry.common_errors]
    parts += ["## Sources", "\n".join(f"- [{source.title}]({source.url})" for source in entry.sources)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _asked(entry: Entry) -> str:
    return "\n".join(f"> {line}".rstrip() for line in entry.question.splitlines())


def _points(points: Iterable[Point]) -> str:
    return "\n\n".join(part for point in points for part in _point(point))


def _point(point: Point) -> Iterator[str]:
    """A point, and how it is checked: one draw of its first probe, always the same one on this page."""
    posed = pose(point.probes[0], point.text)
    yield f"**{point.text}** ({point.weight} of 100)"
    yield posed.text
    if posed.code:
        yield "```{code-block} cuda\n:linenos:\n:force:\n\n" + "\n".join(posed.code) + "\n```"
    if posed.options:
        yield "\n".join(f"- *{letter}* {text}" for letter, text in zip(LETTERS, posed.options, strict=False))
    yield f"{FENCE[1:]}{{folded}} Its answer\n**{_answer(posed)}**\n\n{posed.explain.strip()}\n{FENCE[1:]}"


def _answer(posed: Posed) -> str:
    """What is right, in a line without markup."""
    return f"{'Line ' if posed.code else ''}{posed.answer} {posed.unit}".strip()


def _further(entry: Question | Interview) -> Iterator[str]:
    """What questions have, or what coding rounds have."""
    if isinstance(entry, Interview):
        for item in entry.rounds:
            yield from _round(item)
        return
    if entry.kernels:
        yield "## Write it"
    yield from map(_kernel, entry.kernels)


def _kernel(item: KernelQuestion) -> str:
    return f"{item.ask.strip()} It is rung `{item.rung}` of [](/lessons/{item.topic}/lesson.md)."


def _round(item: Round) -> Iterator[str]:
    yield from (f"## `{item.rung}`", item.ask, folded("A hint", item.hint))
    if item.ratio is not None:
        yield from (item.ratio.text, folded("How it comes about", item.ratio.explain))
    for question, points in (("What limits this version?", item.limits), ("What next, and why?", item.next)):
        yield from (question, folded("The points that count", _points(points)))
    yield folded("The answer", item.answer)


def folded(title: str, text: str, summary: str = "") -> str:
    """Markdown that the page shows folded: under `title`, or under `summary` with the title as its first line."""
    inside = f"**{title}**\n\n{text.strip()}" if summary else text.strip()
    return f"{FENCE}{{folded}} {summary or title}\n{inside}\n{FENCE}"


class Folded(SphinxDirective):
    """`{folded} TITLE`: content that opens on a click."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        summary = f"<details><summary>{html.escape(self.arguments[0])}</summary>"
        opening = nodes.raw("", summary, format="html")
        return [opening, *self.parse_content_to_nodes(), nodes.raw("", "</details>", format="html")]


class Questions(TocTree):
    """`{questions} PATTERN`: the table of contents of the entries that match, such as `questions/hpc-*`, in order."""

    has_content = False
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # whichever file comes or goes
        names = [_page_of(file) for file in _files(self.arguments[0])]
        self.content = StringList(names, source="lessons")
        return super().run()


class ModelAnswers(SphinxDirective):
    """`{model-answers} PATTERN`: a section for each entry that matches, with its question and its answers."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # whichever file comes or goes
        try:
            parts = [
                part for file in _files(self.arguments[0]) for part in _answered(read(file), _page_of(file))
            ]
        except WarpladderError as error:
            raise self.error(str(error)) from None
        return self.parse_text_to_nodes("\n\n".join(parts), allow_section_headings=True)


def _answered(entry: Question | Interview, page: str) -> Iterator[str]:
    """An entry's title, which leads to its page, its question and its answer; of an interview, every round's."""
    yield from (f"## {entry.title}", _asked(entry), entry.answer.strip())
    if isinstance(entry, Interview):
        for item in entry.rounds:
            yield from (f"### {entry.title}: `{item.rung}`", item.answer.strip())
    yield f"[What it is asked for, and what is asked next]({page}.toml)"


def _files(pattern: str) -> list[Path]:
    """The entries that match, interviews in the order of study, questions in the bank's."""
    files = list((ROOT / "lessons").glob(f"{pattern}.toml"))
    if pattern.startswith("*"):
        order = list(topics.discover(ROOT))
        return sorted(files, key=lambda file: order.index(file.parent.name))
    names = list(bank.discover(ROOT))
    return sorted(files, key=lambda file: names.index(file.stem))


def _page_of(file: Path) -> str:
    """The document that an entry's file makes."""
    return f"/{file.relative_to(ROOT).with_suffix('').as_posix()}"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_source_suffix(".toml", "question")
    app.add_source_parser(QuestionParser)
    app.add_directive("folded", Folded)
    app.add_directive("questions", Questions)
    app.add_directive("model-answers", ModelAnswers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
