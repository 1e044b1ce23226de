"""Answers to what an interviewer asks, from the probes themselves: by who knows, and by who guesses."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from grader.interview.probes.kinds import Probe
from grader.interview.probes.posing import LETTERS, Posed, pose
from grader.interview.prompts import Prompt

DRAWS = 20
"""So often does an interviewer draw for another figure."""


class Knowing:
    """Knows the answers to these probes, by what is asked and shown, in a session of that seed."""

    def __init__(self, probes: Sequence[Probe], seed: int) -> None:
        self.probes = probes
        self.seed = seed

    def __call__(self, asked: Prompt) -> str:
        """What somebody types who knows."""
        return self.posed(asked).answer

    def posed(self, asked: Prompt) -> Posed:
        """The probe behind what is asked: it draws by the session's seed and the step."""
        seed = f"{self.seed} {asked.step.removesuffix('.probe')}"
        seeds = [seed, *(f"{seed} {number}" for number in range(DRAWS))]
        for probe in self.probes:
            for seed in seeds:
                found = pose(probe, seed)
                if (
                    asked.text.endswith(found.text)
                    and asked.options == found.options
                    and asked.code == found.code
                ):
                    return found
        raise AssertionError(f"no probe asks {asked.text!r} at {asked.step}")


def guess(rng: random.Random, choose: Callable[[Prompt, random.Random], int]) -> Callable[[Prompt], str]:
    """Somebody who knows nothing, and takes the option that `choose` gives; of lines, any; numbers are left out."""

    def answer(asked: Prompt) -> str:
        if asked.code:
            return str(rng.choice([n for n, line in enumerate(asked.code, 1) if line.strip()]))
        if "order" in asked.wanted:
            return "".join(rng.sample(LETTERS[: len(asked.options)], len(asked.options)))
        return LETTERS[choose(asked, rng)] if asked.options else "1"

    return answer
