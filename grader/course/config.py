"""What a course's nbgrader_config.py calls: our preprocessors in their places among nbgrader's."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.preprocessors import ClearOutput, ClearSolutions, Execute, GetGrades, SaveAutoGrades
from nbgrader.server_extensions import formgrader
from sqlalchemy.exc import SAWarning

from grader.course.folder import CACHE, HIDDEN
from grader.course.preprocessors import (
    KeepStarters,
    MarkKernels,
    RestoreCells,
    RunNotebook,
    SubmissionExporter,
    TypesetComments,
    TypesetProse,
)

_TEMPLATES = Path(__file__).with_name("templates")
_NBGRADERS_TEMPLATES = Path(formgrader.__file__).with_name("templates")


def configure(config: Any, root: Path) -> None:
    """Set up a course in the folder `root`; what stands after this call in the file may change any of it."""
    root = root.resolve()
    config.CourseDirectory.root = str(root)
    config.GenerateAssignment.preprocessors = _replaced(
        GenerateAssignment.preprocessors.default(), {ClearSolutions: [KeepStarters]}
    )
    config.Autograde.exporter_class = SubmissionExporter
    config.Autograde.sanitize_preprocessors = _replaced(
        Autograde.sanitize_preprocessors.default(), {ClearOutput: [RestoreCells, ClearOutput]}
    )
    config.Autograde.autograde_preprocessors = _replaced(
        Autograde.autograde_preprocessors.default(),
        {Execute: [RunNotebook], SaveAutoGrades: [MarkKernels, SaveAutoGrades, TypesetProse]},
    )
    config.GenerateFeedback.preprocessors = _replaced(
        GenerateFeedback.preprocessors.default(), {GetGrades: [GetGrades, TypesetComments]}
    )
    config.HTMLExporter.extra_template_basedirs = [str(item) for item in (_TEMPLATES, _NBGRADERS_TEMPLATES)]
    config.MarkKernels.hidden = str(root / HIDDEN)
    config.MarkKernels.cache = str(root / CACHE)
    # nbgrader 0.9's gradebook sets these off in SQLAlchemy 2, several a submission; they tell a lecturer nothing.
    warnings.filterwarnings("ignore", "Object of type .* not in session", SAWarning)


def _replaced(preprocessors: list[type], by: dict[type, list[type]]) -> list[type]:
    """A list of preprocessors with some exchanged for others; each of them has to be there."""
    missing = [item.__name__ for item in by if item not in preprocessors]
    if missing:
        raise RuntimeError(f"this version of nbgrader has no step {', '.join(missing)}: use nbgrader 0.9")
    return [new for item in preprocessors for new in by.get(item, [item])]
