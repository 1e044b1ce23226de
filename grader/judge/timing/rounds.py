"""Measuring times on a GPU: everything that is compared is timed in the same rounds.

A round times each candidate once, in an order drawn anew, and ends with a rest, so that heat, power limits and other
users of the machine meet all of them alike. Each candidate's output is compared after its warm-up, and again after
passes that come behind a round which nobody knows beforehand.
"""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from grader.judge.claims.pace import Times
from grader.judge.refused import Refused
from grader.judge.timing.nvml import Watch
from grader.judge.timing.statistics import Median, median
from grader.results import Baseline, Provenance

ROUNDS = 31
FEWEST_ROUNDS = 5
SECONDS_EACH = 2.0
"""A candidate is timed in ROUNDS rounds, or in as many as fit into SECONDS_EACH, but in FEWEST_ROUNDS at least."""

WARM_UP = -1
"""The number of the round that comes before all, which does not count."""

CHECKED = ROUNDS
"""The number of the passes that are made to be compared."""

REST_S = 0.2
"""The longest rest after a round; shorter rounds are followed by half of what they took."""

PASS_SECONDS = 60.0
"""After this long a timed pass is taken for an endless loop."""


@dataclass
class Candidate:
    """A rung or a baseline in the rounds, and what was measured of it so far."""

    name: str
    checked: bool  # whether its output is compared: rungs are, libraries are trusted
    samples: list[float] = field(default_factory=list)  # seconds, by round
    rounds: int = ROUNDS
    refusal: Refused | None = None  # why it dropped out
    warm: bool = False  # whether it was warmed up, and its output compared

    def takes_part(self, number: int) -> bool:
        """Whether it is timed in a round: the slow ones in fewer, spread over all of them."""
        stride = ROUNDS // self.rounds
        return self.refusal is None and number % stride == 0 and number < stride * self.rounds

    @property
    def median(self) -> Median:
        """Of its samples."""
        return median(self.samples)

    def baseline(self) -> Baseline | None:
        """As results show it; None where it could not be run, such as a library without CuPy."""
        if self.refusal is not None:
            return None
        interval = self.median
        return Baseline(self.name, interval.value, interval.low, interval.high, self.samples)


def times(own: Candidate | None, beside: Sequence[Candidate]) -> Times:
    """A submission's measured time, None where it was refused, and those of the rungs beside it that have one."""
    rungs = {item.name: item.median for item in beside if item.refusal is None and item.samples}
    interval = None if own is None or own.refusal is not None else own.median
    return Times(
        own_s=None if interval is None else interval.value,
        rungs={name: found.value for name, found in rungs.items()},
        source="measured",
        own_least_s=None if interval is None else interval.low,
        rungs_most_s={name: found.high for name, found in rungs.items()},
    )


Timed = TypeVar("Timed", bound=Candidate, contravariant=True)
AnyTimed = TypeVar("AnyTimed", bound=Candidate)


class Track(Protocol[Timed]):
    """What candidates run on: one pass of one candidate at a time. `number` is the round's, or WARM_UP or CHECKED."""

    def run(self, candidate: Timed, number: int) -> float:
        """Seconds of one timed pass. Raises Refused."""

    def check(self, candidate: Timed, number: int) -> None:
        """Compare what a pass leaves. Raises Refused where it is wrong."""


def measure(track: Track[AnyTimed], candidates: Sequence[AnyTimed], watch: Watch, rng: random.Random) -> None:
    """Warm every candidate up that is not warm, check it, time it in all its rounds, and check it again."""
    for candidate in candidates:
        if not candidate.warm:
            warm_up(track, candidate)
    secret = rng.randrange(ROUNDS // 2, ROUNDS)
    order = list(candidates)
    for number in range(ROUNDS):
        rng.shuffle(order)
        _round(track, [candidate for candidate in order if candidate.takes_part(number)], number)
        watch.look()
        if number == secret:
            for candidate in candidates:
                _time(track, candidate, CHECKED)
                _check(track, candidate, CHECKED)


def warm_up(track: Track[AnyTimed], candidate: AnyTimed) -> None:
    """Two passes that do not count, and what they leave is compared: the first loads code, the second says how long a
    pass takes."""
    for _ in range(2):
        _time(track, candidate, WARM_UP)
    _check(track, candidate, WARM_UP)
    if candidate.refusal is None:
        affordable = int(SECONDS_EACH / max(candidate.samples[-1], 1e-9))
        candidate.rounds = max(FEWEST_ROUNDS, min(ROUNDS, affordable))
    candidate.samples.clear()
    candidate.warm = True


def _round(track: Track[AnyTimed], candidates: Sequence[AnyTimed], number: int) -> None:
    """Time each candidate once, and rest for half as long as that took."""
    start = time.monotonic()
    for candidate in candidates:
        _time(track, candidate, number)
    time.sleep(min(REST_S, (time.monotonic() - start) / 2))


def _time(track: Track[AnyTimed], candidate: AnyTimed, number: int) -> None:
    """One timed pass; one that fails makes the candidate drop out."""
    if candidate.refusal is not None:
        return
    try:
        candidate.samples.append(track.run(candidate, number))
    except Refused as refused:
        candidate.refusal = refused.kept()


def _check(track: Track[AnyTimed], candidate: AnyTimed, number: int) -> None:
    """A wrong output makes the candidate drop out."""
    if not candidate.checked or candidate.refusal is not None:
        return
    try:
        track.check(candidate, number)
    except Refused as refused:
        candidate.refusal = refused.kept()


def watched(made: Provenance, watch: Watch | None, flush_bytes: int | None = None) -> Provenance:
    """A provenance with how times were measured; as it is where none were."""
    if watch is None:
        return made
    return dataclasses.replace(
        made,
        rounds=ROUNDS,
        l2_flush_bytes=flush_bytes,
        power_w=watch.power_w,
        sm_clock_mhz=watch.sm_clock_mhz,
        throttle_reasons=watch.reasons,
    )
