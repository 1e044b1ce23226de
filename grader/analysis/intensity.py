"""The compute-to-memory ratio of a kernel, at three levels, from its counters.

`dram`         FLOP for each byte that has to come from or go to DRAM
`l1`           FLOP for each byte that is loaded from global memory through L1, in whole sectors of 32 bytes. Of a
               product whose blocks make BM × BN outputs in FP32 it is BM · BN / (2 · (BM + BN)).
`instruction`  multiply-adds (or other arithmetic) of a warp for each load of a warp that feeds them. Of a thread that
               makes TM × TN outputs it is TM · TN / (TM + TN) with single floats, four times that with float4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.emulator import metrics

WARP = 32
SECTOR = 32

SHARED_LOADS = (metrics.SHARED_INSTRUCTIONS["ld"], metrics.MATRIX_LOADS)


@dataclass(frozen=True)
class Ratio:
    """A kernel's compute-to-memory ratio; None where nothing is computed, or nothing loaded."""

    dram: float | None  # FLOP a byte
    l1: float | None  # FLOP a byte
    instruction: float | None  # arithmetic instructions of a warp a load instruction


def ratio(counters: Mapping[str, int], flop: int, dram_bytes: int | None) -> Ratio:
    """The ratio from the counters of a kernel's launches together, its operations and its bytes of DRAM."""
    loaded = SECTOR * counters.get(metrics.GLOBAL_SECTORS["ld"], 0)
    return Ratio(_over(flop, dram_bytes or 0), _over(flop, loaded), instruction_ratio(counters))


def instruction_ratio(counters: Mapping[str, int]) -> float | None:
    """Arithmetic instructions of a warp for each load instruction that feeds them; None where there are none.

    Operands come from shared memory where a kernel uses it, and what fills shared memory is loaded once for many
    uses; so of loads from shared and from global memory the more numerous are those that feed the arithmetic.
    """
    computed = sum(counters.get(name, 0) for name in metrics.ARITHMETIC.values()) / WARP
    # A wgmma, which counts among both, loads its operands itself.
    warpgroup = counters.get(metrics.TENSOR_PIPES["gmma"], 0)
    computed += max(counters.get(metrics.TENSOR_INSTRUCTIONS, 0) - warpgroup, 0)
    shared = sum(counters.get(name, 0) for name in SHARED_LOADS)
    return _over(computed, max(shared, counters.get(metrics.GLOBAL_INSTRUCTIONS["ld"], 0)))


def _over(amount: float, per: float) -> float | None:
    return amount / per if amount and per else None


@dataclass(frozen=True)
class RegisterTile:
    """The outputs of one thread of a matrix product: `rows` × `columns`, from operands that it holds in registers."""

    rows: int  # TM
    columns: int  # TN
    width: int = 1  # floats a load brings: 1, or 4 as a float4

    @property
    def multiply_adds(self) -> int:
        """At one step of k."""
        return self.rows * self.columns

    @property
    def loads(self) -> int:
        """Load instructions for one step of k, each of `width` floats."""
        return -(-self.rows // self.width) + -(-self.columns // self.width)

    @property
    def ratio(self) -> float:
        """Multiply-adds for each load instruction."""
        return self.multiply_adds / self.loads

    @property
    def registers(self) -> int:
        """Registers that sums and operands take, without addresses and counters."""
        return self.multiply_adds + self.rows + self.columns
