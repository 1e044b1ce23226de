"""Sums of Nsight Compute's metrics that claims may name: all traffic of a kind, whatever instruction makes it.

A claim on one instruction's metric is kept by another instruction that does the same: a load by an atomic that changes
nothing, a multiply-add by a multiplication and an addition. A sum has them all. What a device's counters do not have,
because nothing in the kernel or the emulator counts it, is zero.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.emulator import metrics

_ADDITIONS, _PRODUCTS, _BOTH = "add", "mul", "fma"
_READS = ("ld", "atom")
_PACKED = {"f": 1, "d": 1, "h": 2}
"""Numbers that an instruction works on: halves come in pairs."""


def _equal(*names: str) -> dict[str, float]:
    return dict.fromkeys(names, 1.0)


def _arithmetic(worth: Mapping[str, int]) -> dict[str, float]:
    return {
        metrics.ARITHMETIC[precision + operation]: float(numbers * worth[operation])
        for precision, numbers in _PACKED.items()
        for operation in worth
    }


_FLOP = _arithmetic({_ADDITIONS: 1, _PRODUCTS: 1, _BOTH: 2})
_TENSOR = dict.fromkeys(metrics.TENSOR_FLOP, 1.0)

SUMS: Mapping[str, Mapping[str, float]] = {
    # Global memory, local memory and constants, as far as a thread gets a value of them; cp.async is a global load. TMA
    # counts as well, an instruction as a request.
    "load_sectors": _equal(
        metrics.GLOBAL_SECTORS["ld"],
        metrics.GLOBAL_SECTORS["atom"],
        metrics.LOCAL_SECTORS["ld"],
        metrics.TMA_SECTORS["ld"],
        metrics.CONSTANT_SECTORS,
    ),
    "load_requests": _equal(
        metrics.GLOBAL_REQUESTS["ld"],
        metrics.GLOBAL_REQUESTS["atom"],
        metrics.LOCAL_REQUESTS["ld"],
        metrics.BULK_COPIES["ld"],
        metrics.CONSTANT_INSTRUCTIONS,
    ),
    "async_load_requests": _equal(metrics.ASYNC_COPIES, metrics.BULK_COPIES["ld"]),
    "async_load_sectors": _equal(metrics.ASYNC_SECTORS, metrics.TMA_SECTORS["ld"]),
    "store_sectors": _equal(
        *(metrics.GLOBAL_SECTORS[kind] for kind in ("st", "atom", "red")),
        *(metrics.TMA_SECTORS[kind] for kind in ("st", "red")),
        metrics.LOCAL_SECTORS["st"],
    ),
    "store_requests": _equal(
        *(metrics.GLOBAL_REQUESTS[kind] for kind in ("st", "atom", "red")),
        *(metrics.BULK_COPIES[kind] for kind in ("st", "red")),
        metrics.LOCAL_REQUESTS["st"],
    ),
    "constant_loads": _equal(metrics.CONSTANT_INSTRUCTIONS),
    "constant_sectors": _equal(metrics.CONSTANT_SECTORS),
    # Shared memory, of the own block and of others of its cluster: a sector there counts as a wavefront, which takes
    # less time, and sectors beyond those that the lanes' bytes fill count as bank conflicts.
    "shared_load_wavefronts": _equal(
        *(metrics.SHARED_WAVEFRONTS[kind] for kind in _READS),
        *(metrics.PEER_SECTORS[kind] for kind in _READS),
    ),
    "shared_store_wavefronts": {
        **_equal(metrics.SHARED_WAVEFRONTS["st"], *(metrics.PEER_SECTORS[kind] for kind in ("st", "redas"))),
        **dict.fromkeys((metrics.PEER_BYTES[kind] for kind in ("tma_st", "tma_red")), 1 / 32),
    },
    "shared_load_instructions": _equal(
        metrics.SHARED_INSTRUCTIONS["ld"],
        metrics.MATRIX_LOADS,
        *metrics.SHARED_ATOMICS.values(),
        *(metrics.PEER_INSTRUCTIONS[kind] for kind in _READS),
    ),
    "shared_load_conflicts": _equal(metrics.SHARED_CONFLICTS["ld"], metrics.PEER_EXCESS["ld"]),
    "shared_conflicts": _equal(
        *metrics.SHARED_CONFLICTS.values(), metrics.COPY_CONFLICTS, *metrics.PEER_EXCESS.values()
    ),
    # What lanes get from each other, in warp instructions.
    "shuffles": {metrics.INTER_THREAD: 1 / 32},
    # Arithmetic on floating-point numbers of any precision: a multiply-add is two operations.
    "flop": {**_FLOP, **_TENSOR},
    "flop_with_memory": {**_FLOP, **_TENSOR, metrics.MEMORY_ADDITIONS: 1.0},
    "flop_outside_tensor_cores": _FLOP,
    "multiplications": {**_arithmetic({_PRODUCTS: 1, _BOTH: 1}), **dict.fromkeys(_TENSOR, 0.5)},
}
"""By name, the metrics and what each counts for."""


def with_sums(counters: Mapping[str, int]) -> dict[str, int]:
    """Counters, 0 for those that nothing was counted of, and the sums of them."""
    sums = {
        name: round(sum(counters.get(metric, 0) * worth for metric, worth in parts.items()))
        for name, parts in SUMS.items()
    }
    return {**dict.fromkeys(metrics.NAMES, 0), **counters, **sums}
