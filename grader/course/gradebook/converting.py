"""nbgrader's converters, called for one student, and what went wrong in them: they log it and go on."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import temp_attrs
from sqlalchemy.exc import DatabaseError

from grader.course.gradebook import database


def convert(kind: type[BaseConverter], course: CourseDirectory, name: str, student: str) -> Exception | None:
    """Have one of nbgrader's converters do one student's submission, anew; returns what went wrong with it.

    Raises WarpladderError for what would go wrong with the others as well: a gradebook that cannot be used, a full
    disk.
    """
    with temp_attrs(course, assignment_id=name, student_id=student):
        converter = kind(coursedir=course, config=course.config)
        converter.force = True
        with _overheard(converter.log) as heard:
            try:
                converter.start()
            except (NbGraderException, OSError) as error:
                heard.append(error)
    if not heard:
        return None
    for cause in _causes(heard[0]):
        if isinstance(cause, DatabaseError):
            raise database.complaint(course, cause)
        if isinstance(cause, OSError) and cause.errno in database.NO_ROOM:
            # A copy that fails has the file that was read first, and then the one that cannot be written.
            raise database.no_room(Path(cause.filename2 or cause.filename or course.root), cause)
    return heard[0]


class _Overheard(logging.Handler):
    """Keeps the exceptions that nbgrader only logs."""

    def __init__(self, heard: list[Exception]) -> None:
        super().__init__(logging.ERROR)
        self.heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        error = sys.exc_info()[1]
        if isinstance(error, Exception):
            self.heard.append(error)


@contextmanager
def _overheard(log: logging.Logger) -> Iterator[list[Exception]]:
    heard: list[Exception] = []
    handler = _Overheard(heard)
    log.addHandler(handler)
    try:
        yield heard
    finally:
        log.removeHandler(handler)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, and those that it was raised in the course of."""
    while error is not None:
        yield error
        error = error.__context__
