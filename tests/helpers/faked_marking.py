"""Marking processes that are none: a function answers in their place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.course.engines.process import Process
from grader.course.orders import Answer, Order


def answer_by(patch: pytest.MonkeyPatch, ask: Callable[[Order, float], Answer]) -> None:
    """From now on `ask`, given an order and the seconds that it may take, answers in place of a process."""
    patch.setattr(Process, "ask", lambda self, order, seconds: ask(order, seconds))
