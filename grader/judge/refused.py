"""The one way in which a submission ends before its end."""

from __future__ import annotations

from grader.results import Verdict


class Refused(Exception):
    """Why a submission goes no further: a verdict that is not "pass", and a reason for the learner.

    Stages raise it; whoever runs the stages of a submission catches it, once.
    """

    def __init__(self, verdict: Verdict, reason: str) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = reason
