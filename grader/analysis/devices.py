"""The GPUs that the analysis knows, read from devices.toml, where every figure names its source."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from grader.emulator.streams.timeline import Link
from grader.errors import WarpladderError


@dataclass(frozen=True)
class Capability:
    """What one streaming multiprocessor (SM) of a compute capability holds and does; sizes in bytes."""

    name: str  # such as "9.0"
    warps: int  # resident at a time
    blocks: int  # resident at a time
    shared_bytes: int  # shared memory of the SM
    shared_block_bytes: int  # most that a block may have
    shared_reserved: int  # kept by CUDA in each block
    shared_unit: int  # shared memory is given in multiples of this
    fma_lanes: int  # FP32 multiply-adds a clock
    fp64_lanes: int  # FP64 multiply-adds a clock
    special_lanes: int  # reciprocals, roots, exponentials, logarithms, sines and cosines a clock
    ldst_lanes: int  # lanes of loads and stores a clock
    peer_bytes: (
        float  # a clock, between it and the shared memory of others of its cluster; 0: there are no clusters
    )
    peer_latency: float  # clocks of a load from there


@dataclass(frozen=True)
class DeviceSpec:
    """One board. Rates in bytes or operations a second, latencies in clocks."""

    name: str
    capability: Capability
    sms: int
    clock_hz: float  # held under FP32 load
    l2_bytes: int
    peak_flop: float  # FP32, of the datasheet: nothing beats it
    peak_tensor: float  # Tensor Cores, dense, halves summed in FP32, of the datasheet
    peak_dram: float  # of the datasheet: nothing beats it
    mma_flop: float  # what mma.sync and WMMA make of peak_tensor
    wgmma_flop: float  # what wgmma makes of it for long; 0 where there is none
    dram_read: float  # what a good kernel gets that only reads
    dram_copy: float  # bytes read plus bytes written, where a kernel does both alike
    l2_rate: float  # where whole lines are touched
    l2_scattered: float  # where each sector lies in a line of its own
    l2_atomics: float  # in sectors that atomics update, however little of them
    atomic_clocks: float  # from one atomic to the next on the same word
    shared_cas_clocks: (
        float  # from one compare-and-swap of a SM in shared memory to the next, in ptxas' loops
    )
    shared_cas_latency: float  # from one of a warp's to its next
    fence_latency: float  # of a fence for the device: a warp waits for what it has stored, and for the answer
    fence_clocks: float  # from one of a SM's warps to the next
    system_fence_latency: float
    system_fence_clocks: float
    l1_latency: float
    l2_latency: float
    dram_latency: float
    block_clocks: float  # from a block's last access to the first of the block that takes its place
    launch_s: float  # seconds from one launch to the next where nothing else limits
    link: Link  # to the host
    measured: bool  # its ceilings were measured on the board; if not, its modelled times are extrapolated


@cache
def boards() -> tuple[DeviceSpec, ...]:
    """Every board of devices.toml."""
    table = tomllib.loads(files(__package__).joinpath("devices.toml").read_text("utf-8"))
    capabilities = {name: Capability(name, **limits) for name, limits in table["capability"].items()}
    return tuple(_board(board, capabilities, table["link"]) for board in table["board"])


def _board(
    board: dict[str, Any], capabilities: dict[str, Capability], links: dict[str, dict[str, float]]
) -> DeviceSpec:
    link = Link(**links[board["link"]], device_copy=board["dram_copy"])
    return DeviceSpec(**{**board, "capability": capabilities[board["capability"]], "link": link})


def board(name: str, arch: str) -> DeviceSpec:
    """The board that a driver calls `name` ("NVIDIA A100-SXM4-80GB"), else the first of architecture `arch`.

    Raises WarpladderError where neither is known.
    """
    named = [spec for spec in boards() if name.startswith(spec.name)]
    if named:
        return max(named, key=lambda spec: len(spec.name))
    capability = _capability(arch)
    for spec in boards():
        if spec.capability.name == capability:
            return spec
    known = ", ".join(spec.name for spec in boards())
    raise WarpladderError(f"nothing is known of the GPU {name} ({arch})", remedy=f"known are {known}")


def named(name: str) -> DeviceSpec:
    """The board that people call `name`, such as "A100", "rtx 4090" or "NVIDIA H200".

    Raises WarpladderError, naming those there are, where none or more than one is meant.
    """
    wanted = "".join(name.lower().split())
    for exact in (True, False):
        found = [spec for spec in boards() if _called(spec.name, wanted, exact)]
        if len(found) == 1:
            return found[0]
    known = ", ".join(spec.name for spec in boards())
    problem = "may be one of several GPUs" if found else "is no GPU that devices.toml knows"
    raise WarpladderError(f"{name!r} {problem}", remedy=f"choose of {known}")


def _called(name: str, wanted: str, exact: bool) -> bool:
    bare = "".join(name.lower().split())
    return wanted == bare or (not exact and bool(wanted) and wanted in bare)


def capability(arch: str) -> Capability:
    """The limits of an architecture such as "sm_90a"; raises WarpladderError where it is not known."""
    name = _capability(arch)
    found = {spec.capability.name: spec.capability for spec in boards()}
    if name not in found:
        remedy = f"known are compute capabilities {', '.join(found)}"
        raise WarpladderError(f"nothing is known of the architecture {arch}", remedy=remedy)
    return found[name]


def _capability(arch: str) -> str:
    # "sm_90a" → "9.0", "sm_120" → "12.0"
    digits = arch.removeprefix("sm_").rstrip("af")
    return f"{digits[:-1]}.{digits[-1:]}"
