"""Figures that the questions on training at scale and on serving quote are what their formulas give."""

import random
import re
from collections.abc import Callable

import pytest

from grader.interview import bank
from grader.interview.probes.posing import compute


def answer(question: str) -> str:
    """A question's answer, on one line."""
    return re.sub(r"\s+", " ", bank.load(question).answer)


def value(question: str, probe: str, **parameters: object) -> float:
    """What a probe's function gives for these parameters."""
    found = next(item for item in bank.load(question).probes if item.name == probe)
    given = compute(found, parameters, random.Random(0)).value
    assert given is not None
    return given


@pytest.mark.soak(area="interview")
@pytest.mark.parametrize(
    ("question", "pattern", "computed"),
    [
        (
            "training-at-scale",
            r"one is slow in ([\d.]+) % of all steps",
            lambda: value("training-at-scale", "slow_steps", n=1000, one_in=1000),
        ),
        ("training-at-scale", r"one in ([\d.]+) hours, although", lambda: 54 * 24 / 419),
        (
            "training-at-scale",
            r"that is (\d+) minutes and",
            lambda: value("training-at-scale", "interval", save=60, hours=3.1),
        ),
        (
            "training-at-scale",
            r"with 10 seconds, (\d+) minutes",
            lambda: value("training-at-scale", "interval", save=10, hours=3.1),
        ),
        (
            "training-at-scale",
            r"minutes and (\d+) % lost",
            lambda: value("training-at-scale", "lost_percent", minutes=19, save=60, hours=3.1),
        ),
        (
            "mobile-or-server",
            r"are at most (\d+) tokens",
            lambda: value("mobile-or-server", "tokens_a_second", bandwidth=60, billions=8, bits=4),
        ),
        (
            "mobile-or-server",
            r"4 bits are really ([\d.]+)\.",
            lambda: value("mobile-or-server", "with_scales", billions=8, bits=4, group=32),
        ),
        (
            "phone-inference",
            r"128 channels (\d+) %",
            lambda: value("phone-inference", "separable", k=3, channels=128),
        ),
        (
            "phone-inference",
            r"it can sustain (\d+) frames per second",
            lambda: value("phone-inference", "sustained", ms=50, watts=4, shed=3),
        ),
        (
            "device-and-server",
            r"over 10 Mbit/s is (\d+) ms",
            lambda: value("device-and-server", "remote_ms", kilobytes=500, mbit=10, server=0, trip=0),
        ),
        (
            "device-and-server",
            r"to 30 KB it is (\d+) ms",
            lambda: value("device-and-server", "remote_ms", kilobytes=30, mbit=10, server=0, trip=0),
        ),
        ("device-and-server", r"activations in FP32 ([\d.]+) MB", lambda: 112 * 112 * 64 * 4 / 1e6),
        ("driving", r"100 ms are ([\d.]+) m before", lambda: 120 / 3.6 / 10),
        ("driving", r"up to (\d+) ms ago", lambda: value("driving", "oldest", hertz=30, latency=100)),
        ("recommendation", r"27 · 26/2 = (\d+) products", lambda: 27 * 26 / 2),
        ("recommendation", r"128 FP32 values are (\d+) GB", lambda: 100e6 * 128 * 4 / 1e9),
        ("recommendation", r"misses take (\d+) %", lambda: 100 * (0.1 / 50) / (0.9 / 3000 + 0.1 / 50)),
        (
            "graph-cutting",
            r"8,000 tokens, (\d+) ms over",
            lambda: value(
                "graph-cutting", "cache_ms", layers=80, heads=8, type="BF16", tokens=8000, network=50
            ),
        ),
        (
            "image-pipeline",
            r"55/40 = ([\d.]+),",
            lambda: value("image-pipeline", "amdahl", before=10, model=30, after=15, factor=2),
        ),
        (
            "image-pipeline",
            r"55/30 = ([\d.]+) pictures",
            lambda: value("image-pipeline", "frames_in_flight", before=10, model=30, after=15),
        ),
        (
            "image-pipeline",
            r"it takes ([\d.]+) cores",
            lambda: value("image-pipeline", "cores_needed", cpu=25, rate=500, gpus=1),
        ),
        ("image-pipeline", r"picture is ([\d.]+) MB as bytes", lambda: 1920 * 1080 * 3 / 1e6),
        (
            "consistent-preprocessing",
            r"the last pixel is taken from ([\d.]+),",
            lambda: value(
                "consistent-preprocessing", "source_position", size=448, out=224, i=223, how="half-pixel"
            ),
        ),
        ("consistent-preprocessing", r"a 0 before normalising becomes −([\d.]+)\.", lambda: 0.485 / 0.229),
        ("consistent-preprocessing", r"0.5/255/0.225 = ([\d.]+) after", lambda: 0.5 / 255 / 0.225),
    ],
)
def test_figures_in_answers_are_computed(question: str, pattern: str, computed: Callable[[], float]) -> None:
    """To half a unit of the last digit that is quoted."""
    found = re.search(pattern, answer(question))
    assert found, f"the answer of {question} no longer says {pattern}"
    digits = len(found[1].partition(".")[2])
    assert float(found[1]) == pytest.approx(computed(), abs=0.5001 * 10**-digits)
