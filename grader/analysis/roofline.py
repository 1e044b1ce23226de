"""Roofline: what each part of a device allows, and where a kernel stands under it.

A roof is a rate. Three are of bytes: DRAM, the L2 cache, and shared memory with the L1 cache, which are one memory
behind one pipe that takes a wavefront of 128 bytes a clock; two of arithmetic: the FP32 units (`fma`) and
the Tensor Cores as mma.sync and WMMA drive them (`tensor`). A kernel with an intensity of I FLOP a byte at some level
of memory cannot exceed I times that level's roof; where that meets the arithmetic roof is the ridge.
(Williams, Waterman, Patterson: "Roofline: An Insightful Visual Performance Model", 2009; for several levels of
memory Ilic, Pratas, Sousa: "Cache-aware Roofline model", 2014.)

Rates are the time model's, measured where devices.toml says so. Nothing else of that model is used: a roof tells how
fast a kernel could be if one part of the device worked without a pause and no other mattered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from grader.analysis.devices import DeviceSpec
from grader.analysis.model import l1_clocks
from grader.emulator import metrics
from grader.results import RungResult

Level = Literal["dram", "l2", "shared"]
Unit = Literal["fma", "tensor"]
Roof = Literal["dram", "l2", "shared", "fma", "tensor"]

LEVELS: tuple[Level, ...] = ("dram", "l2", "shared")
UNITS: tuple[Unit, ...] = ("fma", "tensor")
NAMES = {"dram": "DRAM", "l2": "L2", "shared": "shared/L1", "fma": "FMA", "tensor": "Tensor"}

SECTOR = 32  # bytes
WAVEFRONT = 128  # bytes: one word of 4 bytes from each of 32 banks

FP32 = tuple(metrics.ARITHMETIC[letter + name] for letter in "fh" for name in ("fma", "add", "mul"))
"""Arithmetic that takes a lane of the FP32 units for a clock; two halves at once count as one."""


@dataclass(frozen=True)
class Roofs:
    """A device's roofs: bytes or floating-point operations a second."""

    dram: float
    l2: float
    shared: float
    fma: float
    tensor: float
    warpgroup: float  # Tensor Cores as wgmma drives them

    def ridge(self, level: Level, unit: Unit = "fma") -> float:
        """FLOP a byte at `level` from which on arithmetic limits, not memory."""
        return float(getattr(self, unit) / getattr(self, level))


@dataclass(frozen=True)
class Work:
    """What a kernel does, at the sizes that its time is for. Counts may be scaled up from smaller sizes."""

    flop: float  # a multiply-add is two; FP32 units and Tensor Cores together
    fma_lanes: float  # instructions of threads on the FP32 units
    tensor_flop: float
    warpgroup_flop: float  # those of tensor_flop that wgmma makes
    dram_bytes: float  # to and from DRAM
    l2_bytes: float  # between the L2 cache and the SMs; what L1 is asked for, where that alone is known
    shared_bytes: float  # wavefronts of shared memory and clocks of L1, 128 bytes each: conflicts count

    def traffic(self, level: Level) -> float:
        """Bytes at a level of memory."""
        return float(getattr(self, f"{level}_bytes"))

    def intensity(self, level: Level) -> float | None:
        """FLOP a byte at a level of memory; None where nothing is moved or computed there."""
        nbytes = self.traffic(level)
        return self.flop / nbytes if nbytes and self.flop else None


@dataclass(frozen=True)
class Growth:
    """How much more a problem asks for than the one that was counted."""

    flop: float = 1.0  # of the operations any algorithm needs, or of the bytes where there are no operations
    bytes: float = 1.0  # of the bytes any algorithm moves


@dataclass(frozen=True)
class Placed:
    """A rung under the roofs of a device."""

    rung: str
    time_s: float
    time_source: str | None
    work: Work
    roof_s: Mapping[Roof, float]  # the least seconds that each part of the device needs for the work
    other_kernel: bool = False  # at the sizes that were counted it launches another kernel than was timed

    @property
    def limited_by(self) -> Roof:
        """The roof that is nearest: the part of the device that is busy longest."""
        return max(self.roof_s, key=lambda roof: self.roof_s[roof])

    def share_of(self, roof: Roof) -> float:
        """How much of a roof is reached: 1 is all of it, and no kernel has more.

        Counts are those of PTX. Where `ptxas` merges loads, or L1 keeps lines from block to block, less is moved than
        was counted; then no more is known than that it is no more than the roof lets through.
        """
        return min(1.0, self.roof_s[roof] / self.time_s)

    @property
    def share(self) -> float:
        """How much of the nearest roof is reached."""
        return self.share_of(self.limited_by)

    @property
    def overcounted(self) -> bool:
        """Whether more was counted than the nearest roof lets through in the time."""
        return self.roof_s[self.limited_by] > 1.02 * self.time_s

    def intensity(self, level: Level) -> float | None:
        """FLOP a byte at a level of memory, of no more bytes than its roof lets through in the time."""
        counted = self.work.intensity(level)
        return None if counted is None else counted * max(1.0, self.roof_s[level] / self.time_s)

    @property
    def flop_rate(self) -> float:
        """FLOP a second."""
        return self.work.flop / self.time_s

    def rate(self, level: Level) -> float:
        """Bytes a second at a level of memory."""
        return self.work.traffic(level) / self.time_s


def roofs(device: DeviceSpec) -> Roofs:
    """The roofs of a device."""
    clocks = device.sms * device.clock_hz
    return Roofs(
        dram=device.dram_read,
        l2=device.l2_rate,
        shared=WAVEFRONT * clocks,
        fma=2.0 * device.capability.fma_lanes * clocks,
        tensor=device.mma_flop,
        warpgroup=device.peak_tensor,
    )


def work(rung: RungResult, growth: Growth) -> Work | None:
    """What a rung does at the sizes of its time, from what was counted; None where nothing was counted.

    Loads grow with the operations, since each feeds some of them; stores with the bytes, since results are stored once.
    Clocks of L1 are those of all loads and of all stores together, where the time model counts them place by place.
    """
    if rung.counters is None or rung.flop is None or rung.dram_bytes is None:
        return None
    counters = rung.counters
    stored = SECTOR * sum(counters.get(metrics.GLOBAL_SECTORS[kind], 0) for kind in ("st", "red", "atom"))
    loaded = (
        SECTOR * counters.get(metrics.GLOBAL_SECTORS["ld"], 0)
        if rung.l2_bytes is None
        else rung.l2_bytes - stored
    )
    turns: float = sum(counters.get(metrics.SHARED_WAVEFRONTS[kind], 0) for kind in ("ld", "st", "atom"))
    turns += l1_clocks(counters)
    tensor = sum(counters.get(name, 0) for name in metrics.TENSOR_FLOP)
    warpgroup = sum(counters.get(name, 0) for name in metrics.WARPGROUP_OPS.values())
    return Work(
        flop=rung.flop * growth.flop,
        fma_lanes=sum(counters.get(name, 0) for name in FP32) * growth.flop,
        tensor_flop=tensor * growth.flop,
        warpgroup_flop=warpgroup * growth.flop,
        dram_bytes=rung.dram_bytes * growth.bytes,
        l2_bytes=loaded * growth.flop + stored * growth.bytes,
        shared_bytes=WAVEFRONT * turns * growth.flop,
    )


def place(device: DeviceSpec, rung: RungResult, growth: Growth | None = None) -> Placed | None:
    """A rung under the roofs of the device it was timed on; None where it was not timed or not counted.

    `growth` scales what was counted up to the sizes that were timed; without it they are taken to be the same.
    """
    done = work(rung, growth or Growth())
    if done is None or rung.time_s is None:
        return None
    ceiling = roofs(device)
    roof_s: dict[Roof, float] = {
        "dram": done.dram_bytes / ceiling.dram,
        "l2": done.l2_bytes / ceiling.l2,
        "shared": done.shared_bytes / ceiling.shared,
        "fma": 2.0 * done.fma_lanes / ceiling.fma,
        "tensor": (done.tensor_flop - done.warpgroup_flop) / ceiling.tensor
        + done.warpgroup_flop / ceiling.warpgroup,
    }
    return Placed(rung.id, rung.time_s, rung.time_source, done, roof_s, rung.other_kernel)
