"""Simulated, of the schedule and of its cure."""

from pathlib import Path

from grader.interview.drills.looked_at import cure_of, modelled, prediction, source_of

CHUNKS = 64


def engines() -> dict[str, float]:
    """Engines that work at a time, on average; at most all engines' work over the busiest one's."""
    file = Path(__file__).with_suffix(".toml")
    page, mended = (modelled("streams", path).time.terms for path in (source_of(file), cure_of(file)))
    return prediction(__file__, "engines_busy") | {
        "kernel": 1e6 * page["compute"] / CHUNKS,
        "copy": 1e6 * (page["in"] + page["out"]) / 2 / CHUNKS,
        "ceiling": sum(page.values()) / max(page.values()),
        "mended_copy": 1e6 * (mended["in"] + mended["out"]) / 2 / CHUNKS,
        "mended_ceiling": sum(mended.values()) / max(mended.values()),
    }
