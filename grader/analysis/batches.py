"""The least time of a matrix of weights times a batch of vectors: bytes of the weights against operations.

(Williams, Waterman, Patterson: "Roofline: An Insightful Visual Performance Model", 2009.)
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.analysis.devices import DeviceSpec


@dataclass(frozen=True)
class Batch:
    """Vectors that are multiplied by the same weights at once. The weights are read once, the arithmetic is that of
    halves on Tensor Cores, and both go on at the same time. Rates are the datasheet's."""

    device: DeviceSpec
    vectors: int
    bits: float  # of a weight
    weights: int

    @property
    def reading_s(self) -> float:
        """Seconds in which the weights are read, however many vectors there are."""
        return self.weights * self.bits / 8 / self.device.peak_dram

    @property
    def arithmetic_s(self) -> float:
        """Seconds of a multiplication and an addition for each weight and vector."""
        return 2 * self.weights * self.vectors / self.device.peak_tensor

    @property
    def least_s(self) -> float:
        """The longer of both, seconds."""
        return max(self.reading_s, self.arithmetic_s)

    @property
    def ridge(self) -> float:
        """Vectors at which both take equally long."""
        return self.vectors * self.reading_s / self.arithmetic_s
