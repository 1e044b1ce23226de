"""The least time of attention in decoding: bytes of keys and values against operations.

Query heads that share a head of keys and values read it once (Ainslie et al.: "GQA: Training Generalized Multi-Query
Transformer Models from Multi-Head Checkpoints", 2023).
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.analysis.devices import DeviceSpec

D = 128
"""Numbers of a query, of a key, and of a row of V."""

HALF = 2
"""Bytes of one."""


@dataclass(frozen=True)
class Decoding:
    """One query a sequence and head, over all tokens of its cache. Keys and values are read once, the arithmetic is
    that of halves on Tensor Cores, and both go on at the same time. Rates are the datasheet's."""

    device: DeviceSpec
    sequences: int
    tokens: int  # of each of them
    heads: int  # of queries
    group: int  # of them that share a head of keys and values

    @property
    def cache(self) -> float:
        """Bytes of keys and values of all sequences."""
        return 2 * HALF * D * self.sequences * self.tokens * self.heads / self.group

    @property
    def reading_s(self) -> float:
        """Seconds in which the cache is read."""
        return self.cache / self.device.peak_dram

    @property
    def arithmetic_s(self) -> float:
        """Seconds of a multiplication and an addition for each number of a key and of a row of V, with each query."""
        return 4 * D * self.sequences * self.tokens * self.heads / self.device.peak_tensor

    @property
    def least_s(self) -> float:
        """The longer of both, seconds."""
        return max(self.reading_s, self.arithmetic_s)

    @property
    def ridge(self) -> float:
        """The group for which both take equally long: queries for each token that is read."""
        return self.group * self.reading_s / self.arithmetic_s
