"""All formats of drills, by name."""

from __future__ import annotations

from typing import Any

from grader.interview.drills import design, diagnose, estimate, reading, review
from grader.interview.drills.drill import Format

FORMATS: dict[str, Format[Any]] = {
    module.FORMAT.name: module.FORMAT for module in (design, diagnose, estimate, reading, review)
}
