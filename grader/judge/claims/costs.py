"""The line that wastes most of a kernel's time, by what was counted for it, and what mends that.

Waste is what a line takes beyond what the same accesses need at best, in cycles of a multiprocessor. Lanes that are
idle take part of an instruction's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from grader.analysis.cycles import ISSUE_CYCLES, SECTOR_CYCLES, Counters, cycles
from grader.analysis.cycles import total as _sum
from grader.emulator import metrics
from grader.results import LineCost
from grader.workbook import units

COALESCED = 4
"""Sectors of a request for 32 neighbouring floats."""

WORTH_SAYING = 0.1
"""The share of all cycles from which on waste is worth a word."""


@dataclass(frozen=True)
class _Waste:
    """One way to waste cycles: how many in a line, in words, and the remedy."""

    cycles: Callable[[Counters], float]
    says: Callable[[Counters], str]
    remedy: str


def costliest(lines: Mapping[int, Counters]) -> LineCost | None:
    """The line with the most waste of one kind; None where none wastes a tenth of all cycles."""
    all_cycles = sum(map(cycles, lines.values()))
    found = [
        (waste.cycles(counters), line, waste) for line, counters in lines.items() if line for waste in _WASTES
    ]
    wasted, line, waste = max(found, key=lambda item: item[:2], default=(0.0, 0, None))
    if waste is None or wasted < WORTH_SAYING * all_cycles:
        return None
    return LineCost(line, waste.says(lines[line]), waste.remedy, wasted / all_cycles)


def summed(records: Iterable[Mapping[int, Counters]]) -> dict[int, dict[str, int]]:
    """What the lines of a file counted in all launches together."""
    found: dict[int, dict[str, int]] = {}
    for lines in records:
        for line, counters in lines.items():
            into = found.setdefault(line, {})
            for name, value in counters.items():
                into[name] = into.get(name, 0) + value
    return found


def _conflicts(counters: Counters) -> float:
    return float(_sum(counters, metrics.SHARED_CONFLICTS))


def _says_conflicts(counters: Counters) -> str:
    requests = _sum(counters, metrics.SHARED_WAVEFRONTS) - _sum(counters, metrics.SHARED_CONFLICTS)
    wavefronts = units.digits(_sum(counters, metrics.SHARED_WAVEFRONTS) / max(requests, 1))
    conflicts = units.count(_sum(counters, metrics.SHARED_CONFLICTS))
    return f"{conflicts} bank conflicts: {wavefronts} wavefronts where 1 would do"


def _scattered(counters: Counters) -> float:
    requests = _sum(counters, metrics.GLOBAL_REQUESTS)
    return SECTOR_CYCLES * max(0, _sum(counters, metrics.GLOBAL_SECTORS) - COALESCED * requests)


def _says_scattered(counters: Counters) -> str:
    sectors = _sum(counters, metrics.GLOBAL_SECTORS) / max(_sum(counters, metrics.GLOBAL_REQUESTS), 1)
    return f"{units.digits(sectors)} sectors a request of global memory, where neighbouring floats take {COALESCED}"


def _local(counters: Counters) -> float:
    return SECTOR_CYCLES * _sum(counters, metrics.LOCAL_SECTORS)


def _says_local(counters: Counters) -> str:
    return f"{units.count(_sum(counters, metrics.LOCAL_REQUESTS))} requests to local memory"


def _idle(counters: Counters) -> float:
    instructions = counters.get(metrics.WARP_INSTRUCTIONS, 0)
    return ISSUE_CYCLES * (instructions - counters.get(metrics.THREAD_INSTRUCTIONS, 0) / 32)


def _says_idle(counters: Counters) -> str:
    lanes = counters.get(metrics.THREAD_INSTRUCTIONS, 0) / max(counters.get(metrics.WARP_INSTRUCTIONS, 0), 1)
    return f"on average {units.digits(lanes)} of a warp's 32 lanes are at work"


_WASTES = (
    _Waste(
        _conflicts,
        _says_conflicts,
        "Let the 32 lanes of a warp access 32 different banks, or one and the same word: pad the rows of the array by "
        "one word, or change which lane takes which element.",
    ),
    _Waste(
        _scattered,
        _says_scattered,
        "Let neighbouring threads access neighbouring elements: the index that threadIdx.x is added to should run "
        "fastest in memory.",
    ),
    _Waste(
        _local,
        _says_local,
        "Keep what one thread works on in registers: index its arrays with constants, so that loops over them are "
        "unrolled, and use fewer registers where some are spilled.",
    ),
    _Waste(
        _idle,
        _says_idle,
        "Let whole warps take the same branch: put the threads that work side by side.",
    ),
)
