"""What a person should look at before marks go out: no verdict, and nothing that changes a mark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from grader.course import batch, roster
from grader.course.collecting import left_out
from grader.course.collecting.left_out import LeftOut
from grader.course.gradebook.standing import Class


def of_class(looked: Class) -> Mapping[str, str]:
    """By student: the starter handed in, a rung of the ladder or another's source, what there is to look at in a mark,
    files that were left out, who is not in a roster.csv. Students without any are not in it."""
    found: dict[str, list[str]] = {}
    same = batch.alike(looked.kernels)
    for kernel in looked.kernels:
        mark = looked.marker.marker.known(kernel.topic, kernel.source)
        notes = [same.get((kernel.student, kernel.topic.name), "")]
        if mark is not None:
            notes += batch.doubts(kernel, mark)
        found.setdefault(kernel.student, []).extend(filter(None, notes))
    listed = {each.id for each in roster.read(Path(looked.course.root) / roster.FILE)}
    for student in looked.handed_in if listed else ():
        if student not in listed:
            found.setdefault(student, []).append("on no roster")
    for each in files_left_out(looked):
        if each.student:
            found.setdefault(each.student, []).append(f"{each.file} was left out: {each.why}")
    return {student: "; ".join(notes) for student, notes in found.items() if notes}


def files_left_out(looked: Class) -> list[LeftOut]:
    """Those of the assignment's downloads, also of people whom nobody knows."""
    return left_out.read(Path(looked.marker.cache), looked.assignment.name)
