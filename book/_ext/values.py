"""The role {value}: numbers in prose, computed when the book is built; see `grader.report.values`.

Besides, the book counts kernels of its chapters: paths2.instructions, and what else `RUNS` has.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import experiments
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from grader.errors import WarpladderError
from grader.report import values
from grader.workbook.expressions import ExpressionError

ROOT = Path(__file__).resolve().parents[2]

RUNS = {
    "paths1": functools.partial(experiments.paths, 1),
    "paths2": functools.partial(experiments.paths, 2),
    "paths32": functools.partial(experiments.paths, 32),
    "neighbours": experiments.neighbours,
    "shared_tile": experiments.shared_tile,
}


def written(text: str) -> str:
    """The value of `EXPRESSION | FORMAT` in words; raises WarpladderError or ExpressionError."""
    return values.written(text, RUNS)


class Value(SphinxRole):
    """{value}`EXPRESSION | FORMAT`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        for record in sorted((ROOT / "measurements").glob("*/*.json")):
            self.env.note_dependency(str(record))
        try:
            return [nodes.Text(written(self.text))], []
        except (WarpladderError, ExpressionError, AttributeError) as error:
            said = self.inliner.reporter.error(f"{self.text}: {error}", line=self.lineno)
            return [], [said]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_role("value", Value())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
