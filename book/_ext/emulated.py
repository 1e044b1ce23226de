"""What the emulator knows, read from its own tables: `{instructions}`, `{counters}` and the role {facts}`…`."""

from __future__ import annotations

import inspect
import sys
from collections import defaultdict
from typing import Any

import measured
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

from grader.emulator.codegen.ops.registry import HANDLERS
from grader.emulator.machine.counters import Tally
from grader.judge.claims.derived import SUMS
from grader.workbook.topic import KernelTopic, ScheduleTopic


class Instructions(SphinxDirective):
    """A row for each family of instructions, with the opcodes it knows."""

    def run(self) -> list[nodes.Node]:
        families: dict[str, set[str]] = defaultdict(set)
        for opcode, entries in HANDLERS.items():
            for entry in entries:
                families[entry.handler.__module__].add(opcode)
        rows = [(_first_words(module), _codes(sorted(families[module]))) for module in sorted(families)]
        return [measured.table(["family", "opcodes"], rows, kind="words")]


def _first_words(module: str) -> str:
    """What a module's docstring says up to a colon, a full stop or a line's end."""
    said = inspect.getdoc(sys.modules[module]) or module
    return said.splitlines()[0].split(": ")[0].rstrip(".")


def _codes(words: list[str], between: str = " ") -> nodes.inline:
    """Words as code."""
    made = nodes.inline()
    for number, word in enumerate(words):
        made += [nodes.Text(between)] if number else []
        made += nodes.literal(word, word)
    return made


class Counters(SphinxDirective):
    """The names of all counters that every launch has."""

    def run(self) -> list[nodes.Node]:
        shown = "\n".join(Tally().total)
        return [nodes.literal_block(shown, shown, language="none")]


class Facts(SphinxRole):
    """What claims may name besides sizes and counters: {facts}`kernels`, {facts}`schedules`, and of sums of counters
    {facts}`sums`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        known = {"kernels": KernelTopic.claim_facts, "schedules": ScheduleTopic.claim_facts, "sums": SUMS}
        return [_codes(list(known[self.text]), between=", ")], []


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("instructions", Instructions)
    app.add_directive("counters", Counters)
    app.add_role("facts", Facts())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
