"""Schedules of a notebook: what they ask for, and how long it takes in the simulation of a GPU's engines."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import RenderableType
from rich.text import Text

from grader.judge.schedules.intervals import simulated
from grader.judge.schedules.once import simulate_once
from grader.lab import show
from grader.lab.cells import cell
from grader.lab.comparison import complaints, table
from grader.report import gantt
from grader.results import Interval

MEANINGS = {
    "time_s": "seconds, modelled",
    "htod_bytes": "bytes copied to the device",
    "dtoh_bytes": "bytes copied to the host",
    "pageable_bytes": "of them, from or to pageable memory",
    "device_bytes": "device memory allocated",
    "calls": "calls that run() makes",
    "waits": "of them, those in which the host waits",
    "launches": "launches of the kernel",
    "streams": "streams that are given work",
    "enqueued_first": "share of the work that is enqueued before the host first waits",
    "largest_piece": "the largest copy or launch, as a share of all work of its kind",
    "engines_busy": "engines that work for the results at a time, on average; there are three",
}


class Facts(dict[str, float]):
    """What a schedule asks for, by name; each name is an attribute as well."""

    def __init__(
        self, name: str, values: Mapping[str, float], timeline: list[Interval], faults: list[str]
    ) -> None:
        super().__init__(values)
        self.name = name
        self.timeline = timeline
        self.faults = faults  # what is wrong with it, as far as writing it down shows

    def __getattr__(self, name: str) -> float:
        if name in self:
            return self[name]
        raise AttributeError(f"{name} is not known of a schedule; known are {', '.join(self)}")

    def numbers(self) -> dict[str, float]:
        """All of them."""
        return dict(self)

    def meaning(self, name: str) -> str:
        """What a name stands for."""
        return MEANINGS[name]

    def _view(self) -> RenderableType:
        return show.stacked(
            Text(self.name, "bold"),
            *complaints(self),
            gantt.gantt(self.timeline, "modelled"),
            Text(""),
            table({"found": self}, list(self)),
        )

    def _repr_html_(self) -> str:
        return show.as_html(self._view())

    def __repr__(self) -> str:
        return show.as_text(self._view())


_found: dict[tuple[str, str, tuple[tuple[str, int], ...]], Facts] = {}


def schedule(name: str, /, **sizes: int) -> Facts:
    """What the schedule NAME asks for, at the topic's `main` sizes or those given, and its modelled time.

    It is written down and simulated, so that the host's own data is never touched: see the topic `streams`. Raises
    WarpladderError where it is no schedule, or cannot be written down at all.
    """
    kept = cell(name)
    key = (kept.topic or "", kept.text, tuple(sorted(sizes.items())))
    if key not in _found:
        topic = kept.load_topic()
        problem = topic.problem("main", sizes or None)
        found = simulate_once(topic, kept.path, name, problem)
        faults = [found.refusal.reason] if found.refusal else []
        values = {"time_s": found.timeline.seconds, **found.facts}
        _found[key] = Facts(name, values, simulated(found.timeline), faults)
    return _found[key]
