"""Make each notebook's .ipynb from its text: `make notebooks`, or `notebooks/sync.py [FOLDER]`.

The text, NAME.md in MyST Markdown, is what people edit and review. The .ipynb is the learner's own
copy: JupyterLab opens it, git ignores it, and this program never writes over a cell that was
changed or added in it. The same text gives the same .ipynb, byte for byte, without outputs. It is
written to FOLDER, by default this file's.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import jupytext

HERE = Path(__file__).resolve().parent
# The key, in a notebook's metadata, of its cells' hash as it was made.
MADE_FROM = "warpladder"
FOLDED = {"hide-cell", "remove-cell"}  # tags of cells that JupyterLab shows folded


def sources() -> list[Path]:
    """The texts of all notebooks."""
    return [
        path
        for path in sorted(HERE.glob("*.md"))
        if path.read_text("utf-8").startswith("---\njupytext:")
    ]


def ipynb(source: Path) -> str:
    """The .ipynb of a text, as it is before anything is answered."""
    notebook = jupytext.read(source)
    # Without `jupytext`, JupyterLab does not take them for a pair: answers stay out of the text.
    for key in ("jupytext", "file_format", "after"):
        notebook.metadata.pop(key, None)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen: set[str] = set()
    for cell in notebook.cells:
        cell.id = _identity(cell.source, seen)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if FOLDED.intersection(cell.metadata.get("tags", [])):
            # The book knows the tags; JupyterLab folds a cell where it finds this.
            cell.metadata["jupyter"] = {"source_hidden": True}
    notebook.metadata[MADE_FROM] = {"cells": _hash(notebook)}
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _identity(text: str, seen: set[str]) -> str:
    """A cell's identity: from its text, and from its place where others have the same text."""
    number = 0
    while True:
        found = hashlib.sha256(f"{number}{text}".encode()).hexdigest()[:8]
        if found not in seen:
            seen.add(found)
            return found
        number += 1


def _hash(notebook: dict[str, Any]) -> str:
    """What stands in the cells of a notebook, as a hash; outputs are no part of it."""
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def state(target: Path, wanted: str) -> str:
    """What there is in place of a notebook.

    "absent"; "current"; "older" where its text has changed since and nothing was written in it;
    "yours" where something was; "both" where its text has changed as well.
    """
    if not target.exists():
        return "absent"
    try:
        found = json.loads(target.read_text("utf-8"))
        cells, made_from = _hash(found), found["metadata"].get(MADE_FROM, {}).get("cells")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "both"  # whatever it is, it was not made here
    made_now = json.loads(wanted)["metadata"][MADE_FROM]["cells"]
    if cells == made_now:
        return "current"
    if cells == made_from:
        return "older"
    return "yours" if made_from == made_now else "both"


def write(target: Path, text: str) -> None:
    """Put a notebook in place, whole or not at all."""
    fresh = target.with_suffix(".ipynb.new")
    fresh.write_text(text, "utf-8")
    fresh.replace(target)


SAYS = {
    "absent": "wrote {name}",
    "current": None,
    "older": "wrote {name} again: its text has changed, and nothing was written in it",
    "yours": "kept {name}: it has your work",
    "both": "kept {name}: it has your work, and its text has changed since. "
    "For the new one, rename yours and run this again.",
}


def main(folder: Path) -> int:
    """Make what is absent or was only read, and say what was kept; the exit status."""
    for source in sources():
        target, wanted = folder / f"{source.stem}.ipynb", ipynb(source)
        found = state(target, wanted)
        if found in ("absent", "older"):
            write(target, wanted)
        if said := SAYS[found]:
            print(said.format(name=target.name))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE))
