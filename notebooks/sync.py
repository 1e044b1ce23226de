"""Write each notebook's .ipynb from its text: `python notebooks/sync.py`, or `make notebooks`.

The text, NAME.md in MyST Markdown, is what people edit and review; the .ipynb beside it is what
JupyterLab opens. The same text gives the same .ipynb, byte for byte, without outputs. With --check,
nothing is written, and the exit status is 1 where a file is not what its text says.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import jupytext

FOLDER = Path(__file__).resolve().parent


def sources() -> list[Path]:
    """The texts of all notebooks."""
    return [
        path
        for path in sorted(FOLDER.glob("*.md"))
        if path.read_text("utf-8").startswith("---\njupytext:")
    ]


def ipynb(source: Path) -> str:
    """What the .ipynb of a text has to hold."""
    notebook = jupytext.read(source)
    # Without it JupyterLab does not take them for a pair: a reader's answers stay out of the text.
    notebook.metadata.pop("jupytext", None)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen: set[str] = set()
    for cell in notebook.cells:
        cell.id = _identity(cell.source, seen)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if "hide-cell" in cell.metadata.get("tags", []):
            # The book knows the tag; JupyterLab folds a cell where it finds this.
            cell.metadata["jupyter"] = {"source_hidden": True}
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


def main(check: bool) -> int:
    """Write what differs, or name it; the exit status."""
    stale = 0
    for source in sources():
        target, wanted = source.with_suffix(".ipynb"), ipynb(source)
        if target.is_file() and target.read_text("utf-8") == wanted:
            continue
        stale += 1
        print(
            f"notebooks/{target.name} is not what {source.name} says"
            if check
            else f"wrote {target.name}"
        )
        if not check:
            target.write_text(wanted, "utf-8")
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
