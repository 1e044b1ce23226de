"""Sums on paper: bytes, operations, bounds and times, from figures that are drawn."""

from __future__ import annotations

from grader.interview.drills.drill import Format, look_back, nothing_to_prove, read_drill

FORMAT = Format("estimate", "a sum on paper", 5, read_drill, nothing_to_prove, look_back)
