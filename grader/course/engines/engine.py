"""What an engine is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from grader.course.orders import Answer, Order


class Engine(Protocol):
    """Has orders answered, several at a time."""

    def answers(self, orders: Sequence[Order], seconds: float) -> Iterator[tuple[int, Answer]]:
        """The place of each order, and its answer, as they come; one that took longer than `seconds` was ended, and
        is answered by a complaint. An order that is given by itself has the machine to itself."""
