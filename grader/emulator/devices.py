"""The GPUs that can be emulated, one an architecture, with the attributes `Device.get_attribute` answers.

Names are those of PyCUDA's `device_attribute` in lower case. Limits are the CUDA programming guide's for the
compute capability; counts, clocks (kHz), bus width (bits) and cache sizes (bytes) are the board's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

DEFAULT_ARCH = "sm_90a"

_EVERYWHERE = {
    "max_threads_per_block": 1024,
    "max_block_dim_x": 1024,
    "max_block_dim_y": 1024,
    "max_block_dim_z": 64,
    "max_grid_dim_x": 2**31 - 1,
    "max_grid_dim_y": 65535,
    "max_grid_dim_z": 65535,
    "max_shared_memory_per_block": 48 * 1024,
    "total_constant_memory": 64 * 1024,
    "warp_size": 32,
    "max_pitch": 2**31 - 1,
    "max_registers_per_block": 65536,
    "max_registers_per_multiprocessor": 65536,
    "texture_alignment": 512,
    "texture_pitch_alignment": 32,
    "surface_alignment": 512,
    "gpu_overlap": 1,
    "async_engine_count": 3,
    "kernel_exec_timeout": 0,
    "integrated": 0,
    "can_map_host_memory": 1,
    "compute_mode": 0,
    "concurrent_kernels": 1,
    "pci_bus_id": 0,
    "pci_device_id": 0,
    "pci_domain_id": 0,
    "tcc_driver": 0,
    "unified_addressing": 1,
    "stream_priorities_supported": 1,
    "global_l1_cache_supported": 1,
    "local_l1_cache_supported": 1,
    "managed_memory": 1,
    "multi_gpu_board": 0,
    "multi_gpu_board_group_id": 0,
    "compute_preemption_supported": 1,
}


@dataclass(frozen=True)
class EmulatedDevice:
    """One GPU: its name, its architecture without a suffix ("sm_90"), and its attributes."""

    name: str
    arch: str
    attributes: Mapping[str, int]
    l1_bytes: int
    """Of the memory of a multiprocessor that is its L1 cache and its shared memory, as the CUDA programming guide's
    tables of compute capabilities have it."""

    @property
    def compute_capability(self) -> tuple[int, int]:
        return self.attributes["compute_capability_major"], self.attributes["compute_capability_minor"]


def _device(arch: str, name: str, **own: int) -> EmulatedDevice:
    major, minor = divmod(int(arch.removeprefix("sm_")), 10)
    shared = own.pop("shared_kib")
    reserved, l1_bytes = own.pop("reserved"), own.pop("l1_kib") * 1024
    capability = {
        "compute_capability_major": major,
        "compute_capability_minor": minor,
        "max_shared_memory_per_multiprocessor": shared * 1024,
        "reserved_shared_memory_per_block": reserved,
        "max_shared_memory_per_block_optin": shared * 1024 - reserved,
    }
    return EmulatedDevice(name, arch, MappingProxyType(_EVERYWHERE | capability | own), l1_bytes)


_DEVICES = {
    device.arch: device
    for device in (
        _device(
            "sm_75", "Tesla T4", multiprocessor_count=40, clock_rate=1_590_000,
            memory_clock_rate=5_001_000, global_memory_bus_width=256, l2_cache_size=4 << 20, ecc_enabled=1,
            l1_kib=96, shared_kib=64, reserved=0, max_threads_per_multiprocessor=1024, max_blocks_per_multiprocessor=16,
            single_to_double_precision_perf_ratio=32,
        ),
        _device(
            "sm_80", "NVIDIA A100-SXM4-80GB", multiprocessor_count=108, clock_rate=1_410_000,
            memory_clock_rate=1_593_000, global_memory_bus_width=5120, l2_cache_size=40 << 20, ecc_enabled=1,
            l1_kib=192, shared_kib=164, reserved=1024, max_threads_per_multiprocessor=2048,
            max_blocks_per_multiprocessor=32, single_to_double_precision_perf_ratio=2,
        ),
        _device(
            "sm_86", "NVIDIA GeForce RTX 3090", multiprocessor_count=82, clock_rate=1_695_000,
            memory_clock_rate=9_751_000, global_memory_bus_width=384, l2_cache_size=6 << 20, ecc_enabled=0,
            l1_kib=128, shared_kib=100, reserved=1024, max_threads_per_multiprocessor=1536,
            max_blocks_per_multiprocessor=16, single_to_double_precision_perf_ratio=32,
        ),
        _device(
            "sm_89", "NVIDIA GeForce RTX 4090", multiprocessor_count=128, clock_rate=2_520_000,
            memory_clock_rate=10_501_000, global_memory_bus_width=384, l2_cache_size=72 << 20, ecc_enabled=0,
            l1_kib=128, shared_kib=100, reserved=1024, max_threads_per_multiprocessor=1536,
            max_blocks_per_multiprocessor=24, single_to_double_precision_perf_ratio=64,
        ),
        _device(
            "sm_90", "NVIDIA H200", multiprocessor_count=132, clock_rate=1_980_000,
            memory_clock_rate=3_201_000, global_memory_bus_width=6016, l2_cache_size=60 << 20, ecc_enabled=1,
            l1_kib=256, shared_kib=228, reserved=1024, max_threads_per_multiprocessor=2048,
            max_blocks_per_multiprocessor=32, single_to_double_precision_perf_ratio=2,
        ),
        _device(
            "sm_100", "NVIDIA B200", multiprocessor_count=148, clock_rate=1_965_000,
            memory_clock_rate=3_996_000, global_memory_bus_width=7680, l2_cache_size=132_644_864,
            ecc_enabled=1, l1_kib=256, shared_kib=228, reserved=1024, max_threads_per_multiprocessor=2048,
            max_blocks_per_multiprocessor=32, single_to_double_precision_perf_ratio=2,
        ),
        _device(
            "sm_120", "NVIDIA GeForce RTX 5090", multiprocessor_count=170, clock_rate=2_407_000,
            memory_clock_rate=14_001_000, global_memory_bus_width=512, l2_cache_size=96 << 20, ecc_enabled=0,
            l1_kib=128, shared_kib=100, reserved=1024, max_threads_per_multiprocessor=1536,
            max_blocks_per_multiprocessor=24, single_to_double_precision_perf_ratio=64,
        ),
    )
}  # fmt: skip


def find(arch: str) -> EmulatedDevice:
    """The device emulated for `arch` ("sm_90", "sm_90a", …). Raises ValueError naming those there are."""
    device = _DEVICES.get(re.sub(r"(?<=\d)[af]$", "", arch))
    if device is None:
        raise ValueError(f"no emulated GPU of architecture {arch!r}; there are {', '.join(_DEVICES)}")
    return device


def max_active_blocks(device: EmulatedDevice, threads: int, registers: int, shared_bytes: int) -> int:
    """Blocks of `threads` threads that fit on one multiprocessor at a time (0: not even one).

    `registers` a thread, `shared_bytes` a block, static and dynamic. Registers are given to a warp in units
    of 256, each quarter of a multiprocessor serving whole warps; shared memory comes in units of 128 bytes
    (256 before compute capability 8), plus what CUDA keeps for itself in each block.
    """
    has = device.attributes
    if threads > has["max_threads_per_block"] or shared_bytes > has["max_shared_memory_per_block_optin"]:
        return 0
    warps = -(-threads // has["warp_size"])
    fits = [
        has["max_blocks_per_multiprocessor"],
        has["max_threads_per_multiprocessor"] // (warps * has["warp_size"]),
    ]
    if registers:
        registers_per_warp = -(-registers * has["warp_size"] // 256) * 256
        quarters = 4
        warps_per_quarter = has["max_registers_per_multiprocessor"] // quarters // registers_per_warp
        fits.append(warps_per_quarter * quarters // warps)
    unit = 128 if device.compute_capability >= (8, 0) else 256
    taken = -(-(shared_bytes + has["reserved_shared_memory_per_block"]) // unit) * unit
    if taken:
        fits.append(has["max_shared_memory_per_multiprocessor"] // taken)
    return min(fits)
