"""A modelled time: what a device would need for what a kernel was counted to do.

Each term is the time that one part of the device is busy, as if it worked alone:

    dram     bytes to and from DRAM; those too of spilled registers that do not fit into the L2 cache, and what is
             prefetched beyond what is loaded
    l2       sectors between the L2 cache and the SMs: those of loads that miss the L1 cache, and those of
             every store, which L1 passes on; a sector alone in its line costs more than one of four; what all
             blocks load comes once for each SM, if L1 holds all that a block loads; and spilled registers, if L1 does
             not hold them
    l1       turns of the L1 cache and shared memory, one a clock a SM: bank conflicts, scattered accesses
             and what has to be brought in from L2 take more of them
    issue    instructions, four warps' a clock a SM; a division is as many as SASS makes of it
    fma      FP32 arithmetic
    fp64     FP64 arithmetic, on Tensor Cores too, and what divisions and roots of doubles are made of
    special  reciprocals, roots, exponentials and the like, and what begins with one, such as a division; conversions
             from and to 64-bit types; counts, searches and reversals of bits
    tensor   arithmetic of Tensor Cores
    latency  memory latencies, fences and sleep that a warp waits for, shared among the warps that are resident
             (Little's law)
    atomics  updates of one word, which L2 makes one after the other: also that of its buffer by each call of printf
    cluster  bytes between the SMs of a cluster, to and from each other's shared memory

Parts work at the same time, but never perfectly: the terms are joined by a p-norm, which lies between their
maximum and their sum; nearer to the sum where one block alone has a multiprocessor, and waits for what it loads, as it
does not for cp.async and TMA. But for the products of wgmma, which no warp waits for as it issues other work: a launch
takes as long as they take, or as long as all the rest. It takes no less than its longest warp, which issues an
instruction a clock at most. Every parameter belongs to a device; none belongs to a kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod
from typing import Protocol

from grader.analysis.devices import DeviceSpec
from grader.analysis.occupancy import WARP, occupancy
from grader.emulator import metrics
from grader.emulator.machine.records import Counted

SECTOR = 32  # bytes
SECTORS_A_LINE = 4
LINES_A_CLOCK = 4
SECTORS_A_FILL = 2  # neighbours that come into L1 from L2 in one clock
ISSUE_A_CLOCK = 4  # warp instructions a SM
LOADS_IN_FLIGHT = 4  # of a warp: compilers unroll loops by four and move the loads to the front
USUAL_SHARE = 2.0  # the first warp of a tree does so many times what its warps do on average
TENSOR_COST = {"tf32": 2.0, "fp8": 0.5, "imma": 0.5, "igmma": 0.5}  # of an operation; 1 of halves
DOUBLES_A_LANE = 2  # multiply-adds of doubles on Tensor Cores while a lane of the FP64 pipe makes one
OVERLAP = 3.0  # the p of the p-norm: 1 would be no overlap, infinity perfect overlap
OVERLAP_ALONE = 2.0  # the same where a multiprocessor holds one block, which waits for its loads

FP32 = tuple(metrics.ARITHMETIC[name] for name in ("ffma", "fadd", "fmul"))


class CountedLaunch(Protocol):
    """What is read of a launch record, the emulator's or the judge's; the counts are of the blocks run."""

    @property
    def kernel(self) -> str: ...
    @property
    def block(self) -> Sequence[int]: ...
    @property
    def registers(self) -> int: ...
    @property
    def shared_bytes(self) -> int: ...
    @property
    def blocks_run(self) -> int: ...
    @property
    def grid_blocks(self) -> int: ...
    @property
    def counters(self) -> Mapping[str, int]: ...
    @property
    def lines(self) -> Sequence[Counted]: ...
    @property
    def dram_read_bytes(self) -> int: ...
    @property
    def dram_write_bytes(self) -> int: ...
    @property
    def l2_read_bytes(self) -> int: ...
    @property
    def l2_common_bytes(self) -> int: ...
    @property
    def longest_warp(self) -> int: ...
    @property
    def load_path(self) -> int: ...
    @property
    def atomics_a_word(self) -> float: ...
    @property
    def local_bytes(self) -> int: ...
    @property
    def host_calls(self) -> Mapping[str, int]: ...


@dataclass(frozen=True)
class LaunchStats:
    """What one launch does, over its whole grid; bytes and counts may be scaled up from a few blocks."""

    blocks: int
    block_threads: int
    registers: int  # a thread
    shared_bytes: int  # a block, static and dynamic
    counters: Mapping[str, float]  # Nsight Compute's metrics
    l1_clocks: float  # of loads and stores of global memory, see `l1_clocks`
    dram_read: float  # bytes
    dram_write: float  # bytes
    l2_read: float  # bytes that miss an L1 cache which each block finds empty
    l2_common: float = 0  # of a block's, those that other blocks load as well
    longest_warp: float = 0  # instructions of the warp that executes the most; 0: all do as much
    load_path: float = 0  # sectors that a block loads one after the other, over all blocks; 0: not known
    rarest_warp: float = 0  # of one that does far more than those that stand for all; 0: none is known
    atomics_a_word: float = 0  # that update one word, one after the other
    prefetched: float = 0  # bytes beyond those that are loaded past L1: for nobody
    local_bytes: int = 0  # a thread
    host_calls: float = 0  # of printf, malloc and free, by all threads: each updates a word that all share
    kernel: str = ""

    @property
    def warps(self) -> int:
        """Warps of the whole grid."""
        return self.blocks * ceil(self.block_threads / WARP)

    @property
    def working_warps(self) -> float:
        """Warps that are worth as many as there are, if some do much and others little; see `USUAL_SHARE`."""
        if not self.longest_warp:
            return self.warps
        executed = self.counters.get(metrics.WARP_INSTRUCTIONS, 0)
        return min(self.warps, max(1.0, USUAL_SHARE * executed / self.longest_warp))

    @property
    def loading_warps(self) -> float:
        """Warps that load at the same time: those that work, or where warps wait for each other's loads, as many in
        each block as its loads are times those on its longest path. Of that, too, a usual share is nothing."""
        if not self.load_path:
            return self.working_warps
        loaded = self.counters.get(metrics.GLOBAL_SECTORS["ld"], 0)
        at_once = max(1.0, loaded / self.load_path * self.blocks)
        return at_once if USUAL_SHARE * at_once < self.working_warps else self.working_warps


@dataclass(frozen=True)
class LaunchTime:
    """Seconds of one launch, without those that launching takes."""

    kernel: str
    seconds: float
    blocks: int
    block_threads: int
    full: bool  # whether multiprocessors hold as many warps as they can


@dataclass(frozen=True)
class ModelledTime:
    """Seconds, how they come about, and what takes most of them."""

    seconds: float
    terms: dict[str, float]  # seconds of each term alone, summed over the launches
    limited_by: str  # the name of the largest term
    blocks: int = 0  # of the launch that has the most
    launches: tuple[LaunchTime, ...] = ()  # in their order


def launch_stats(record: CountedLaunch, array_bytes: int, rarest_warp: int = 0) -> LaunchStats:
    """What a launch does in full, from the blocks of it that were run.

    `array_bytes` are all arrays of the problem together: blocks share what they read, so that no more than
    that is read from DRAM. What blocks have in common is taken to be the same for all. `rarest_warp` is known
    of other blocks. Raises ValueError where no block was run.
    """
    if record.blocks_run < 1:
        raise ValueError("no block of the launch was run")
    scale = record.grid_blocks / record.blocks_run
    prefetched = SECTOR * record.counters.get(metrics.PREFETCHED, 0)
    return LaunchStats(
        blocks=record.grid_blocks,
        block_threads=prod(record.block),
        registers=record.registers,
        shared_bytes=record.shared_bytes,
        counters={name: value * scale for name, value in record.counters.items()},
        l1_clocks=sum(l1_clocks(item.counters) for item in record.lines) * scale,
        dram_read=min(record.dram_read_bytes * scale, array_bytes),
        dram_write=min(record.dram_write_bytes * scale, array_bytes),
        l2_read=record.l2_read_bytes * scale,
        l2_common=record.l2_common_bytes / max(1, record.blocks_run - 1),
        longest_warp=record.longest_warp,
        load_path=record.load_path * scale,
        rarest_warp=rarest_warp,
        atomics_a_word=record.atomics_a_word,
        prefetched=max(0, prefetched - record.l2_read_bytes) * scale,
        local_bytes=record.local_bytes,
        host_calls=sum(record.host_calls.values()) * scale,
        kernel=record.kernel,
    )


def l1_clocks(counters: Mapping[str, int]) -> float:
    """Clocks of L1 that loads and stores of one place in the source take: it looks up four lines of 128 bytes a clock,
    and its data serve a wavefront a clock (benchmarks/l1.cu). A place is the finest that is counted; one that mixes
    kinds of access counts as their average."""
    wavefronts, lines = (
        [counters.get(names[kind], 0) for kind in metrics.LOAD_STORE]
        for names in (metrics.GLOBAL_WAVEFRONTS, metrics.GLOBAL_LINES)
    )
    return sum(max(data, tags / LINES_A_CLOCK) for data, tags in zip(wavefronts, lines, strict=True))


def modelled_time(device: DeviceSpec, launches: Sequence[LaunchStats]) -> ModelledTime:
    """Seconds on `device` for launches that follow each other.

    Raises ValueError where a launch does not fit the device at all, or there is none.
    """
    if not launches:
        raise ValueError("no launches to model")
    launches = [replace(launch, l2_read=_from_l2(device, launch)) for launch in launches]
    each = [_terms(device, launch) for launch in launches]
    aside = [_warpgroup_products(device, launch) for launch in launches]
    overlap = [_overlap(device, launch) for launch in launches]
    joined = [
        sum(term**p for term in terms.values()) ** (1 / p) for terms, p in zip(each, overlap, strict=True)
    ]
    rarest = [
        launch.rarest_warp / device.clock_hz for launch in launches
    ]  # issues one instruction a clock at most
    took = [*map(max, joined, aside, rarest)]
    seconds = sum(took)
    terms = {name: sum(terms[name] for terms in each) for name in each[0]}
    terms["tensor"] += sum(aside)
    terms["launch"] = device.launch_s * len(launches)
    blocks = max(launch.blocks for launch in launches)
    each_launch = tuple(
        LaunchTime(launch.kernel, own, launch.blocks, launch.block_threads, _full(device, launch))
        for launch, own in zip(launches, took, strict=True)
    )
    limited_by = max(terms, key=lambda name: terms[name])
    return ModelledTime(seconds + terms["launch"], terms, limited_by, blocks, each_launch)


def _full(device: DeviceSpec, launch: LaunchStats) -> bool:
    """Whether a launch has as many warps at a time as the device can hold."""
    resident = _resident(device, launch)
    warps = resident * ceil(launch.block_threads / WARP)
    return warps >= device.capability.warps and launch.blocks >= resident * device.sms


def _terms(device: DeviceSpec, launch: LaunchStats) -> dict[str, float]:
    """The seconds of each term of one launch."""
    sm = device.capability
    resident = _resident(device, launch)
    if resident == 0:
        raise ValueError("a block does not fit on a multiprocessor")
    busiest = _busiest(device, launch) / device.clock_hz
    return {
        "dram": _dram(device, launch),
        "l2": _l2(device, launch),
        "l1": _l1_clocks(device, launch) * busiest,
        "issue": _slots(launch) / _issued(launch, resident) * busiest,
        "fma": sum(launch.counters.get(name, 0) for name in FP32) / sm.fma_lanes * busiest,
        "fp64": _doubles(launch) / sm.fp64_lanes * busiest,
        "special": launch.counters.get(metrics.SPECIAL_FUNCTIONS, 0) * WARP / sm.special_lanes * busiest,
        "tensor": _products(launch) / device.mma_flop * device.sms * device.clock_hz * busiest,
        "latency": _latency(device, launch, resident),
        "atomics": (launch.atomics_a_word + launch.host_calls) * device.atomic_clocks / device.clock_hz,
        "cluster": _peer_bytes(launch) / sm.peer_bytes * busiest if sm.peer_bytes else 0.0,
    }


def _resident(device: DeviceSpec, launch: LaunchStats) -> int:
    """Blocks that a multiprocessor holds at a time."""
    return occupancy(
        device.capability, launch.block_threads, launch.registers, launch.shared_bytes
    ).blocks_per_sm


def _overlap(device: DeviceSpec, launch: LaunchStats) -> float:
    """The p of the p-norm. Where a block is alone and waits for what it loads, parts are idle that another block would
    use; one that copies asynchronously does not wait."""
    copies = sum(launch.counters.get(name, 0) for name in (metrics.ASYNC_COPIES, metrics.BULK_COPIES["ld"]))
    return OVERLAP if copies or _resident(device, launch) > 1 else OVERLAP_ALONE


def _peer_bytes(launch: LaunchStats) -> float:
    """Bytes to and from the shared memory of other blocks of a cluster."""
    return sum(launch.counters.get(name, 0) for name in metrics.PEER_BYTES.values())


def _busiest(device: DeviceSpec, launch: LaunchStats) -> float:
    """The share of the work of the SM with the most: it gets whole blocks."""
    return ceil(launch.blocks / device.sms) / launch.blocks


def _doubles(launch: LaunchStats) -> float:
    """Operations of the FP64 pipe, of all lanes. Tensor Cores multiply doubles twice as fast (datasheets of A100, H100
    and H200)."""
    multiplied = launch.counters.get(metrics.TENSOR_OPS["fp64", "fp64"], 0) / 2
    return launch.counters.get(metrics.FP64_INSTRUCTIONS, 0) * WARP + multiplied / DOUBLES_A_LANE


def _products(launch: LaunchStats) -> float:
    """Operations of mma.sync, as if they were all of halves."""
    names = [(factors, name) for (factors, _), name in metrics.TENSOR_OPS.items() if factors != "fp64"]
    return _as_halves(launch, [*names, ("imma", metrics.INTEGER_OPS["imma"])])


def _as_halves(launch: LaunchStats, names: Iterable[tuple[str, str]]) -> float:
    """Operations of Tensor Cores, by factors and metric: how many of halves take as long. FP8 and 8-bit integers take
    half as long as halves, TF32 twice as long (datasheets)."""
    return sum(launch.counters.get(name, 0) * TENSOR_COST.get(factors, 1.0) for factors, name in names)


def _warpgroup_products(device: DeviceSpec, launch: LaunchStats) -> float:
    """Seconds of wgmma."""
    names = [*metrics.WARPGROUP_OPS.items(), ("igmma", metrics.INTEGER_OPS["igmma"])]
    work = _as_halves(launch, names)
    return work / device.wgmma_flop * device.sms * _busiest(device, launch) if work else 0.0


def _slots(launch: LaunchStats) -> float:
    """Issue slots of all warps."""
    slots = (metrics.WARP_INSTRUCTIONS, metrics.EXPANDED, *metrics.SPILLED.values())
    return sum(launch.counters.get(name, 0) for name in slots)


def _issued(launch: LaunchStats, resident: int) -> float:
    """Instructions a clock a SM: a warp issues one at most, and those that have nothing to do issue none."""
    return min(ISSUE_A_CLOCK, resident * launch.working_warps / launch.blocks)


def _dram(device: DeviceSpec, launch: LaunchStats) -> float:
    # Where as much is written as read, both together run at dram_copy; a write costs what is missing.
    per_read = 1 / device.dram_read
    per_write = 2 / device.dram_copy - per_read
    loads, stores = _spilled_past(device, launch, device.l2_bytes / device.sms)
    return (launch.dram_read + launch.prefetched + loads) * per_read + (
        launch.dram_write + stores
    ) * per_write


def _spilled_past(device: DeviceSpec, launch: LaunchStats, room: float) -> tuple[float, float]:
    """Bytes of spilled registers that are loaded and stored past a cache of which a multiprocessor has so much: all of
    them where the local memory of its threads does not fit. They come round in turn, so that each has been evicted
    before it is needed again."""
    threads = _resident(device, launch) * launch.block_threads
    if threads * launch.local_bytes <= room:
        return 0.0, 0.0
    loads, stores = (4 * WARP * launch.counters.get(metrics.SPILLED[kind], 0) for kind in metrics.LOAD_STORE)
    return loads, stores


def _l1_room(device: DeviceSpec, launch: LaunchStats) -> float:
    """Bytes of a multiprocessor that shared memory leaves to the L1 cache."""
    return device.capability.shared_bytes - _resident(device, launch) * launch.shared_bytes


def _from_l2(device: DeviceSpec, launch: LaunchStats) -> float:
    """Bytes that come from L2. Where L1 has room for all that a block loads, what others load as well is still there
    when the next block begins on the multiprocessor: it comes once for each of these."""
    kept = launch.l2_common if launch.l2_read / launch.blocks <= _l1_room(device, launch) else 0.0
    return launch.l2_read - kept * max(0, launch.blocks - device.sms)


def _l2(device: DeviceSpec, launch: LaunchStats) -> float:
    """Seconds of L2: loads that miss L1; stores and atomics in whole sectors, however little is written."""
    reads = launch.l2_read / SECTOR
    stores = launch.counters.get(metrics.GLOBAL_SECTORS["st"], 0)
    atomics = sum(launch.counters.get(metrics.GLOBAL_SECTORS[kind], 0) for kind in ("red", "atom"))
    alone = reads / _neighbours(launch, "ld") + stores / _neighbours(launch, "st")
    # One sector of a whole line costs 1 / l2_rate a byte, one alone in its line 1 / l2_scattered.
    share = SECTOR / (1 - 1 / SECTORS_A_LINE) * (1 / device.l2_scattered - 1 / device.l2_rate)
    moved = (reads + stores) * (SECTOR / device.l2_scattered - share) + alone * share
    spilled = sum(_spilled_past(device, launch, _l1_room(device, launch)))
    return moved + spilled / device.l2_rate + atomics * SECTOR / device.l2_atomics


def _neighbours(launch: LaunchStats, kind: str) -> float:
    """Sectors that an access touches in one line: 1 where it is scattered, 4 where it is coalesced."""
    touched = launch.counters.get(metrics.GLOBAL_LINES[kind], 0)
    sectors = launch.counters.get(metrics.GLOBAL_SECTORS[kind], 0)
    return min(SECTORS_A_LINE, max(1.0, sectors / touched)) if touched else SECTORS_A_LINE


def _l1_clocks(device: DeviceSpec, launch: LaunchStats) -> float:
    """Clocks of L1 and shared memory, of all SMs together; an instruction takes at least its lanes' time. Shuffles go
    the same way, 32 lanes a clock (CUDA C++ Programming Guide, "Arithmetic Instructions"). A sector of another block's
    shared memory takes a clock of that: with as many distinct words in one bank there are as many sectors."""
    counters = launch.counters
    instruction = WARP / device.capability.ldst_lanes
    accesses = sum(counters.get(metrics.GLOBAL_REQUESTS[kind], 0) for kind in ("ld", "st"))
    clocks = max(launch.l1_clocks, accesses * instruction)
    clocks += launch.l2_read / SECTOR / min(SECTORS_A_FILL, _neighbours(launch, "ld"))
    clocks += counters.get(metrics.INTER_THREAD, 0) / WARP
    clocks += sum(counters.get(name, 0) for name in metrics.PEER_SECTORS.values())
    for kind in ("ld", "st"):
        shared = counters.get(metrics.SHARED_INSTRUCTIONS[kind], 0) * instruction
        clocks += max(counters.get(metrics.SHARED_WAVEFRONTS[kind], 0), shared)
        local = (metrics.LOCAL_INSTRUCTIONS[kind], metrics.SPILLED[kind])
        clocks += sum(counters.get(name, 0) for name in local) * instruction
    loads, _ = _spilled_past(device, launch, _l1_room(device, launch))
    clocks += loads / SECTOR / SECTORS_A_FILL + counters.get(metrics.COPY_CONFLICTS, 0)
    swaps = counters.get(metrics.SHARED_ATOMICS["cas"], 0) * device.shared_cas_clocks
    return clocks + max(counters.get(metrics.SHARED_WAVEFRONTS["atom"], 0), swaps)


def _latency(device: DeviceSpec, launch: LaunchStats, resident: int) -> float:
    """Seconds that the slots for warps are taken by waiting: for a block to begin, for swaps, for fences and to sleep,
    and for loads from global memory and from other blocks' shared memory.

    A warp keeps some loads in flight. A load waits for the level of memory that its data came from; the share
    of loads that go to a level is what that level had to supply. Writing is not waited for.
    """
    asynchronous = launch.counters.get(metrics.ASYNC_COPIES, 0)  # nothing waits for these
    requests = max(0.0, launch.counters.get(metrics.GLOBAL_REQUESTS["ld"], 0) - asynchronous)
    waves = max(1.0, launch.blocks / (resident * device.sms))
    swaps = launch.counters.get(metrics.SHARED_ATOMICS["cas"], 0)
    clocks = device.block_clocks + swaps / launch.working_warps * device.shared_cas_latency
    clocks += _fences(device, launch, resident) / launch.working_warps
    # A warp sleeps for about as long as it asks (CUDA C++ Programming Guide, "Nanosleep Function").
    clocks += launch.counters.get(metrics.SLEPT, 0) * 1e-9 * device.clock_hz / launch.working_warps
    peers = launch.counters.get(metrics.PEER_REQUESTS["ld"], 0)
    if peers:
        in_turn = max(1.0, peers / launch.working_warps / LOADS_IN_FLIGHT)
        clocks += in_turn * device.capability.peer_latency
    if requests:
        sectors = min(SECTORS_A_LINE, launch.counters.get(metrics.GLOBAL_SECTORS["ld"], 0) / requests)
        to_l2 = min(1.0, launch.l2_read / SECTOR / (requests * sectors))
        to_dram = min(to_l2, launch.dram_read / SECTOR / (requests * sectors))
        a_load = (
            device.l1_latency
            + to_l2 * (device.l2_latency - device.l1_latency)
            + to_dram * (device.dram_latency - device.l2_latency)
        )
        clocks += max(1.0, requests / launch.loading_warps / LOADS_IN_FLIGHT) * a_load
    return waves * clocks / device.clock_hz


def _fences(device: DeviceSpec, launch: LaunchStats, resident: int) -> float:
    """Clocks that warps wait at fences, of all warps together: its own latency, or until all others have had theirs."""
    warps = min(launch.working_warps / device.sms, resident * launch.working_warps / launch.blocks)
    costs = {
        "gl": (device.fence_latency, device.fence_clocks),
        "sys": (device.system_fence_latency, device.system_fence_clocks),
    }
    return sum(
        launch.counters.get(metrics.FENCES[scope], 0) * max(latency, warps * clocks)
        for scope, (latency, clocks) in costs.items()
    )
