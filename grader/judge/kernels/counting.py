"""From launches and their records to the numbers that results and claims use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.analysis.devices import capability
from grader.analysis.occupancy import Occupancy, occupancy
from grader.emulator import metrics
from grader.emulator.machine.records import SECTOR, Counted, LaunchRecord
from grader.emulator.places import Place
from grader.findings.kernels import callers
from grader.judge.child.protocol import Launch, Record
from grader.judge.kernels.compiled import Kernel, Planned
from grader.results import LineProfile
from grader.workbook.expressions import Number

_WORTH = {"add": 1, "mul": 1, "fma": 2}

FLOP = {metrics.ARITHMETIC[letter + name]: flop for letter in "fdh" for name, flop in _WORTH.items()}
"""Floating-point operations an instruction, by counter: ffma, dadd and so on; a multiply-add is two."""

_SHARED_LOADS = (
    metrics.SHARED_INSTRUCTIONS["ld"],
    metrics.PEER_INSTRUCTIONS["ld"],
    metrics.MATRIX_LOADS,
    metrics.TENSOR_PIPES["gmma"],
)


@dataclass(frozen=True)
class Resources:
    """What a kernel file takes: of each resource, the worst of its launches."""

    registers: int
    shared_bytes: int  # static and dynamic
    spill_bytes: int  # stores and loads
    occupancy: Occupancy
    grid_blocks: int  # of all launches together
    block_threads: int  # of the largest block
    launches: int
    multiprocessors: int  # of the device


def resources(kernel: Kernel, planned: Planned, arch: str, multiprocessors: int) -> Resources:
    """The resources of a planned kernel on an architecture, and a device of so many multiprocessors."""
    used = [kernel.resources(launch) for launch in planned.launches]
    return Resources(
        registers=max(item.registers for item in used),
        shared_bytes=max(shared_bytes(kernel, launch) for launch in planned.launches),
        spill_bytes=max(item.spill_store_bytes + item.spill_load_bytes for item in used),
        occupancy=min(
            (launch_occupancy(kernel, launch, arch) for launch in planned.launches),
            key=lambda item: item.fraction,
        ),
        grid_blocks=sum(product(launch.grid) for launch in planned.launches),
        block_threads=max(product(launch.block) for launch in planned.launches),
        launches=len(planned.launches),
        multiprocessors=multiprocessors,
    )


def launch_occupancy(kernel: Kernel, launch: Launch, arch: str) -> Occupancy:
    """How full a multiprocessor can be with one launch's blocks."""
    registers = kernel.resources(launch).registers
    return occupancy(capability(arch), product(launch.block), registers, shared_bytes(kernel, launch))


def shared_bytes(kernel: Kernel, launch: Launch) -> int:
    """Static and dynamic shared memory of a block."""
    return kernel.resources(launch).shared_bytes + launch.shared_bytes


def product(extents: Iterable[int]) -> int:
    """How many blocks a grid, or threads a block, has."""
    x, y, z = extents
    return x * y * z


def summed(records: Sequence[Record | LaunchRecord]) -> dict[str, int]:
    """Counters of all launches together."""
    total: Counter[str] = Counter()
    for record in records:
        total.update(record.counters)
    return dict(sorted(total.items()))


def of_whole_grids(records: Sequence[Record]) -> dict[str, int]:
    """Counters of all launches together, where only some blocks of each were run: they stand for all."""
    total: Counter[str] = Counter()
    for record in records:
        scale = _scale(record)
        total.update({name: round(value * scale) for name, value in record.counters.items()})
    return dict(sorted(total.items()))


def _scale(record: Record) -> float:
    """How many times as much a whole grid does as the blocks of it that were run. Of work that blocks draw by a counter
    one that runs alone may have drawn all: it is counted once, and the others stand for the rest."""
    blocks, run = record.grid_blocks, record.blocks_run
    if not record.counters.get(metrics.GLOBAL_REQUESTS["atom"]) or run == 1:
        return blocks / run
    share = min(1.0, record.longest_block / max(record.counters.get(metrics.WARP_INSTRUCTIONS, 0), 1))
    return share + (1 - share) * (blocks - 1) / (run - 1)


def flop(counters: dict[str, int]) -> int:
    """Floating-point operations that were executed."""
    return tensor_flop(counters) + sum(counters.get(name, 0) * worth for name, worth in FLOP.items())


def tensor_flop(counters: dict[str, int]) -> int:
    """Those on Tensor Cores."""
    return sum(counters.get(name, 0) for name in metrics.TENSOR_FLOP)


def lines(counted: Iterable[Counted], sources: Mapping[str, Sequence[str]]) -> list[LineProfile]:
    """What each place in the source has caused, in all launches together; `sources` has the lines of files by their
    names, GIVEN for the learner's own."""
    found: dict[Place, Counter[str]] = {}
    for item in counted:
        found.setdefault(item.place, Counter()).update(item.counters)
    return [
        LineProfile(
            place.line,
            source[place.line - 1].strip()
            if 0 < place.line <= len(source := sources.get(place.file, ()))
            else "",
            dict(found[place]),
            place.file or None,
            callers(place),
        )
        for place in sorted(found, key=Place.order)
    ]


def dram_bytes(records: Sequence[Record | LaunchRecord]) -> int:
    """Bytes that the launches have to move to and from DRAM, each starting with an empty L2 cache."""
    return sum(record.dram_read_bytes + record.dram_write_bytes for record in records)


def l2_bytes(records: Sequence[Record]) -> int:
    """Bytes between the SMs and the L2 cache: loads that miss the L1 cache, and every store."""
    return sum(record.l2_read_bytes + record.l2_write_bytes for record in records)


def facts(used: Resources, records: Sequence[Record]) -> dict[str, Number]:
    """What claims may name besides sizes and counters."""
    loads = sum(record.counters.get(name, 0) for record in records for name in _SHARED_LOADS)
    counters = summed(records)
    copies, boxes = (counters.get(name, 0) for name in (metrics.ASYNC_COPIES, metrics.BULK_COPIES["ld"]))
    return {
        "registers": used.registers,
        "shared_bytes": used.shared_bytes,
        "shared_used_bytes": max(record.shared_used_bytes for record in records),
        "shared_overlap": sum(record.reads_beside_writes for record in records) / max(1, loads),
        "copies_overlapped": _share((record.copies_beside_reads for record in records), copies),
        "boxes_overlapped": _share((record.bulk_beside_reads for record in records), boxes),
        "occupancy": used.occupancy.fraction,
        "grid_blocks": used.grid_blocks,
        "longest_warp": sum(record.longest_warp for record in records),
        "longest_block": sum(record.longest_block for record in records),
        "block_load_sectors": sum(record.most_loaded_bytes for record in records) // SECTOR,
        "busiest_multiprocessor": sum(
            -(-record.grid_blocks // used.multiprocessors) * record.longest_block for record in records
        ),
        "multiprocessors": used.multiprocessors,
        "block_threads": used.block_threads,
        "launches": used.launches,
    }


def _share(parts: Iterable[int], whole: int) -> float:
    """1 where there is nothing to share."""
    return sum(parts) / whole if whole else 1.0
