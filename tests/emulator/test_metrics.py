"""Names of metrics: those that the workbook writes are those that the emulator counts."""

import re
from pathlib import Path

from grader.emulator import metrics
from grader.emulator.machine.counters import Tally

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [
    *ROOT.glob("lessons/**/*.toml"),
    *ROOT.glob("lessons/**/*.md"),
    *ROOT.glob("notebooks/*.md"),
    *ROOT.glob("book/**/*.md"),
    *ROOT.glob("book/_ext/*.py"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("*.md"),
]
NAME = re.compile(r"\b(?:l1tex|lts|smsp|sm|dram|gpu|gpc|sys)__\w+(?:\.\w+)?")


def test_texts_name_only_what_is_counted() -> None:
    named = {(path, name) for path in TEXTS for name in NAME.findall(path.read_text(encoding="utf-8"))}
    assert [f"{path}: {name}" for path, name in sorted(named) if not _is_counted(name)] == []


def _is_counted(found: str) -> bool:
    """Prose may give a name's beginning: `l1tex__t_sectors…`."""
    return found in metrics.NAMES or (
        not found.endswith(".sum") and any(name.startswith(found) for name in metrics.NAMES)
    )


def test_the_texts_do_name_metrics() -> None:
    named = {found for path in TEXTS for found in NAME.findall(path.read_text(encoding="utf-8"))}
    assert len(named & metrics.NAMES) > 15


def test_what_every_launch_reports_is_named() -> None:
    assert set(Tally().total) <= metrics.NAMES


def test_no_other_module_spells_a_metric() -> None:
    """A docstring may show one as an example."""
    for path in ROOT.glob("grader/**/*.py"):
        if path.name == "metrics.py":
            continue
        quoted = re.findall(rf'(?<!`)f?"({NAME.pattern}[^"]*)"(?!\]`)', path.read_text(encoding="utf-8"))
        assert not quoted, (path, quoted)
