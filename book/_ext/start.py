"""The first page: `{first-topic}`, a console with the first topic's name in it, and `{way}`, the map of the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from grader.workbook import topics

ROOT = Path(__file__).resolve().parents[2]


class FirstTopic(SphinxDirective):
    """`{first-topic}`: the content as a console, where TOPIC stands for the topic that comes first."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # whichever topic comes or goes
        text = "\n".join(self.content).replace("TOPIC", next(iter(topics.discover(ROOT))))
        return [nodes.literal_block(text, text, language="console")]


class Way(SphinxDirective):
    """`{way}`: a row for each line `TOPIC RUNGS | chapters | notebooks`, pages of the book by their names.

    Lines on topics that there are not, and notebooks that there are not, are left out.
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        return self.parse_text_to_nodes("\n".join(table(self.content)))


def table(lines: Iterable[str]) -> Iterator[str]:
    """The map as lines of a Markdown table."""
    yield from ("| read | climb, then write | predict and try |", "|---|---|---|")
    known = topics.discover(ROOT)
    for line in lines:
        (topic, *rungs), chapters, notebooks = (part.split() for part in line.split("|"))
        if topic in known:
            read = ", ".join(f"[](/book/{name}.md)" for name in chapters)
            climb = f"[{known[topic].title}](/lessons/{topic}/lesson.md)"
            climb += f", rungs {rungs[0].replace('-', ' to ')}" if rungs else ""
            there = [name for name in notebooks if (ROOT / "notebooks" / f"{name}.md").is_file()]
            tried = ", ".join(f"[](/notebooks/{name}.md)" for name in there)
            yield f"| {read} | {climb} | {tried} |"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("first-topic", FirstTopic)
    app.add_directive("way", Way)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
