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

WARP = 32
SECTOR = 32

ARITHMETIC = tuple(
    f"smsp__sass_thread_inst_executed_op_{letter}{name}_pred_on.sum"
    for letter in "fdh"
    for name in ("fma", "add", "mul")
)
TENSOR = "sm__inst_executed_pipe_tensor_op_hmma.sum"
GLOBAL_LOADS = "smsp__sass_inst_executed_op_global_ld.sum"
SHARED_LOADS = ("smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_ldsm.sum")
LOAD_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"


@dataclass(frozen=True)
class Ratio:
    """A kernel's compute-to-memory ratio; None where nothing is computed, or nothing loaded."""

    dram: float | None  # FLOP a byte
    l1: float | None  # FLOP a byte
    instruction: float | None  # arithmetic instructions of a warp a load instruction


def ratio(counters: Mapping[str, int], flop: int, dram_bytes: int | None) -> Ratio:
    """The ratio from the counters of a kernel's launches together, its operations and its bytes of DRAM."""
    loaded = SECTOR * counters.get(LOAD_SECTORS, 0)
    return Ratio(_over(flop, dram_bytes or 0), _over(flop, loaded), instruction_ratio(counters))


def instruction_ratio(counters: Mapping[str, int]) -> float | None:
    """Arithmetic instructions of a warp for each load instruction that feeds them; None where there are none.

    Operands come from shared memory where a kernel uses it, and what fills shared memory is loaded once for many
    uses; so of loads from shared and from global memory the more numerous are those that feed the arithmetic.
    """
    computed = sum(counters.get(name, 0) for name in ARITHMETIC) / WARP + counters.get(TENSOR, 0)
    shared = sum(counters.get(name, 0) for name in SHARED_LOADS)
    return _over(computed, max(shared, counters.get(GLOBAL_LOADS, 0)))


def _over(amount: float, per: float) -> float | None:
    return amount / per if amount and per else None
