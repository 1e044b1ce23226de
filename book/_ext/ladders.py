"""The ladders: lessons in the order of study, with what was measured and the difference between rungs put in.

A lesson is lessons/<topic>/lesson.md. Its sections on rungs begin with their numbers, `## 02: …` or
`## 04 and 05: …`; at the end of each stand the picture of what a block accesses, and what its file changes. After the
last stands what was measured. Each rung's file has a page of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import kept_accesses
import measured
from difference import Code, difference, whole
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.directives.other import TocTree
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from grader.analysis.devices import named
from grader.report.pictures import accesses_for_pages
from grader.results import Climb
from grader.workbook import topics
from grader.workbook.ladder import Rung
from grader.workbook.topic import KernelTopic, Topic

LOGGER = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parents[2]
LESSON = re.compile(r"lessons/(\w+)/lesson")
NUMBERS = re.compile(r"(\d\d)(?:(?:,| and|, and) (\d\d))*:")
LANGUAGES = {".cu": "cuda", ".py": "python"}


class Ladders(TocTree):
    """`{ladders}`: the table of contents of all lessons, in the order that their topic.toml asks for; pages that the
    content names come first."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # whichever topic comes or goes
        found = [name for name in topics.discover(ROOT) if (ROOT / "lessons" / name / "lesson.md").is_file()]
        pages = [*self.content, *(f"/lessons/{name}/lesson" for name in found)]
        self.content = StringList(pages, source="topic.toml")
        return super().run()


class LadderOverview(SphinxDirective):
    """`{ladder-overview}`: a row a record, from the naive kernel to the fastest, in the order of study."""

    def run(self) -> list[nodes.Node]:
        found = []
        for topic in topics.discover(ROOT).values():
            for path in measured.records(ROOT, topic.name):
                self.env.note_dependency(str(path))
                found.append((self._lesson(topic), measured.read(path)))
        return [measured.overview(found)]

    def _lesson(self, topic: Topic) -> nodes.Node:
        """A link to the topic's lesson."""
        return pending_xref(
            "",
            nodes.inline("", topic.title),
            refdomain="std",
            reftype="doc",
            refdoc=self.env.docname,
            reftarget=f"/lessons/{topic.name}/lesson",
            refexplicit=True,
            refwarn=True,
        )


class LadderPicture(SphinxDirective):
    """`{ladder-picture} TOPIC`: the picture of a topic's first record."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = measured.records(ROOT, self.arguments[0])[0]
        self.env.note_dependency(str(path))
        return measured.drawn(measured.read(path))[:1]


class Roofs(SphinxDirective):
    """`{roofs} BOARD`: what a board's roofs are beside its data sheet."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        return [measured.reached(named(self.arguments[0]))]


class MeasuredAll(SphinxDirective):
    """`{measured-all}`: a section for each record, in the order of study."""

    def run(self) -> list[nodes.Node]:
        sections = []
        for topic in topics.discover(ROOT).values():
            for path in measured.records(ROOT, topic.name):
                self.env.note_dependency(str(path))
                climb = measured.read(path)
                sections.append(
                    _section(
                        self.state.document,
                        f"{topic.title}: {climb.device.name}",
                        climb,
                        {},
                        topic.ladder.ids,
                    )
                )
        return sections


class Rungs(SphinxTransform):
    """Puts into each lesson what is rendered from records and kernel files."""

    default_priority = 200

    def apply(self, **_: Any) -> None:
        if not (found := LESSON.fullmatch(self.env.docname)):
            return
        topic = topics.load(found[1], ROOT)
        sections = {number: section for section in self._sections() for number in _numbers(section)}
        climbs = list(self._climbs(topic))
        pictures = _pictures(topic)
        for section in dict.fromkeys(sections.values()):
            for number in _numbers(section):
                section += list(_timelines(climbs, number))
                section += [measured.figure(pictures[number])] if number in pictures else []
                section += [nodes.raw("", text, format="html") for text in self._files(topic, number)]
        for rung in topic.rungs:
            if rung.id[:2] not in sections:
                LOGGER.warning("no section on rung %s: its title would begin `%s:`", rung.id, rung.id[:2])
        links = {rung.id: sections[rung.id[:2]]["ids"][0] for rung in topic.rungs if rung.id[:2] in sections}
        self._measured(topic, climbs, list(sections.values()), links)

    def _sections(self) -> Iterator[nodes.section]:
        top = next(self.document.findall(nodes.section))
        yield from (node for node in top.children if isinstance(node, nodes.section))

    def _files(self, topic: Topic, number: str) -> Iterator[str]:
        """What the rung with that number changes, and all of it."""
        position = next((at for at, rung in enumerate(topic.rungs) if rung.id.startswith(number)), None)
        if position is None:
            LOGGER.warning("a section on rung %s, which %s has not", number, topic.name)
            return
        rung = topic.rungs[position]
        self.env.note_dependency(str(rung.path))
        if position:
            yield difference(_code(topic.rungs[position - 1]), _code(rung))
        page = self.app.builder.get_relative_uri(self.env.docname, _page(rung))
        yield f'<p><a class="reference internal" href="{page}">All of {rung.id}</a></p>\n'

    def _climbs(self, topic: Topic) -> Iterator[Climb]:
        """The records of a topic, one a GPU."""
        for path in measured.records(ROOT, topic.name):
            self.env.note_dependency(str(path))
            yield measured.read(path)

    def _measured(
        self,
        topic: Topic,
        climbs: Iterable[Climb],
        rungs: Sequence[nodes.section],
        links: dict[str, str],
    ) -> None:
        """A section for each record, after the section on the last rung."""
        for climb in reversed(list(climbs)):
            title = f"Measured on an {climb.device.name}"
            section = _section(self.document, title, climb, links, topic.ladder.ids)
            if rungs:
                rungs[-1].parent.insert(rungs[-1].parent.index(rungs[-1]) + 1, section)


def _pictures(topic: Topic) -> dict[str, str]:
    """What a block of each rung accesses, by the rung's number; none of schedules, which have timelines."""
    if not isinstance(topic, KernelTopic):
        return {}
    found = kept_accesses.of_rungs(topic)
    return {
        rung.id[:2]: accesses_for_pages(result, rung.id)
        for rung, result in zip(topic.rungs, found, strict=True)
    }


def _timelines(climbs: Iterable[Climb], number: str) -> Iterator[nodes.Node]:
    """When each engine works under the schedule with that number, on each GPU that it was measured on."""
    for climb in climbs:
        for rung in climb.rungs:
            if rung.id.startswith(number) and rung.timeline:
                yield measured.timeline(climb, rung)


def pages_of_files(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each rung's file, with the rung before and the one after it; before the first is the lesson."""
    for topic in topics.discover(ROOT).values():
        for number, rung in enumerate(topic.rungs):
            lesson = app.builder.get_relative_uri(_page(rung), f"lessons/{topic.name}/lesson")
            before: dict[str, str] = {"link": lesson, "title": topic.title}
            if number:
                before = _link(app, rung, topic.rungs[number - 1])
            after = _link(app, rung, topic.rungs[number + 1]) if number + 1 < len(topic.rungs) else None
            title = str(rung.path.relative_to(ROOT))
            head = f'<h1>{rung.id}</h1>\n<p><code>{title}</code>, a rung of <a href="{lesson}">{topic.title}</a></p>\n'
            body = f'<div class="ladder-page">{head}{whole(_code(rung, whole_file=True))}</div>\n'
            yield _page(rung), {"title": title, "body": body, "prev": before, "next": after}, "page.html"


def _link(app: Sphinx, here: Rung, there: Rung) -> dict[str, str]:
    return {"link": app.builder.get_relative_uri(_page(here), _page(there)), "title": there.id}


def _page(rung: Rung) -> str:
    """The name of the page that shows a rung's file."""
    return rung.path.relative_to(ROOT).with_suffix("").as_posix()


def _section(
    document: nodes.document, title: str, climb: Climb, links: dict[str, str], ids: Sequence[str]
) -> nodes.section:
    """What a record holds, as a section; `links` are the ids of the sections on rungs, `ids` the ladder's rungs."""
    section = nodes.section("", nodes.title("", title), names=[nodes.fully_normalize_name(title)])
    document.note_implicit_target(section)
    said = nodes.paragraph("", measured.provenance(climb), classes=["provenance"])
    section += [*measured.drawn(climb), measured.ladder(climb, links, ids), said]
    return section


def _numbers(section: nodes.section) -> list[str]:
    """The numbers of the rungs that a section is about: "04 and 05: …" → 04, 05."""
    found = NUMBERS.match(section.next_node(nodes.title).astext())
    return re.findall(r"\d\d", found[0]) if found else []


def _code(rung: Rung, whole_file: bool = False) -> Code:
    """A rung's file; without its first lines, the idea in prose, which changes as a whole from rung to rung."""
    lines = rung.path.read_text(encoding="utf-8").splitlines()
    start = 0 if whole_file else _after_idea(lines, rung.path.suffix)
    return Code(rung.id, "\n".join(lines[start:]) + "\n", LANGUAGES[rung.path.suffix], start + 1)


def _after_idea(lines: Iterable[str], suffix: str) -> int:
    """The index of the first line after the idea: the launch block's, or a schedule's first after its docstring."""
    ends = re.compile(r"//\s*///" if suffix == ".cu" else r'.*"""\s*$')
    for number, line in enumerate(lines):
        if ends.match(line) and (suffix == ".cu" or number or line.count('"""') == 2):
            return number if suffix == ".cu" else number + 1
    return 0


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("ladders", Ladders)
    app.add_directive("ladder-overview", LadderOverview)
    app.add_directive("ladder-picture", LadderPicture)
    app.add_directive("measured-all", MeasuredAll)
    app.add_directive("roofs", Roofs)
    app.add_transform(Rungs)
    app.connect("html-collect-pages", pages_of_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
