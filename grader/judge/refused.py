"""The one way in which a submission ends before its end."""

from __future__ import annotations

from grader.results import Verdict


class Refused(Exception):
    """Why a submission goes no further: a verdict that is not "pass", and a reason for the learner.

    Stages raise it; whoever runs the stages of a submission catches it and keeps it. So do the runs of a case and the
    rounds of a measurement, which are stages of many parts.
    """

    def __init__(self, verdict: Verdict, reason: str) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = reason

    def saying(self, reason: str) -> Refused:
        """The same with another reason."""
        return type(self)(self.verdict, reason)

    def kept(self) -> Refused:
        """Itself, without the frames that it came through: they hold the arrays of a case."""
        self.__context__ = None
        return self.with_traceback(None)


class RightAtFirst(Refused):
    """It is right when it is called first, and its warps run by number: what is tried that way mends nothing."""


class GridEnds(Refused):
    """A grid with more blocks along an axis than a device takes."""


class Lost(Refused):
    """A process of the judge's has ended, or not answered: that says nothing about the submission."""


class NoRoom(Lost):
    """It was ended because it took more memory than this machine has for it."""
