"""`{command-line}`: a section for each command of `ladder`, with what its `--help` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from grader.ladder import app as ladder

COLUMNS = 80


class CommandLine(SphinxDirective):
    """The help of the program and of all its commands."""

    def run(self) -> list[nodes.Node]:
        return list(self._sections(typer.main.get_command(ladder), "ladder", None))

    def _sections(self, command: Any, name: str, parent: Any) -> Iterator[nodes.Node]:
        context = command.context_class(
            command, info_name=name, parent=parent, terminal_width=COLUMNS, max_content_width=COLUMNS
        )
        full_name = context.command_path
        section = nodes.section("", nodes.title("", full_name), names=[nodes.fully_normalize_name(full_name)])
        self.state.document.note_implicit_target(section)
        shown = f"$ {full_name} --help\n{command.get_help(context)}"
        section += nodes.literal_block(shown, shown, language="console")
        yield section
        for inner_name, inner in getattr(command, "commands", {}).items():
            if not inner.hidden:
                yield from self._sections(inner, inner_name, context)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
