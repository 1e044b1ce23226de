"""What of a launch a device cannot do: its limits, said before the driver says "invalid argument"."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.analysis import devices
from grader.analysis.occupancy import occupancy
from grader.emulator.machine import clusters
from grader.errors import WarpladderError
from grader.judge.child.protocol import Launch
from grader.judge.refused import GridEnds, Refused
from grader.workbook import compiler
from grader.workbook.cuda_source import numbers
from grader.workbook.kernel_file import KernelFile
from grader.workbook.launches.spec import LaunchSpec

Limits = Mapping[str, int]

_MORE = "let each thread compute more elements, or use more blocks"
_DEFINED = re.compile(
    r"(?:#\s*define|\bconstexpr|\bconst)\b[\w\s]{0,40}?\b(?P<name>\w+)\s*[=\s]\s*(?P<value>\d{1,9})\b(?=\s*(?:;|/|$))"
)

HOPPER = (9, 0)
"""The first compute capability with clusters and tensor maps."""


@dataclass(frozen=True)
class Impossible:
    """What keeps a launch from being made."""

    key: str  # of the launch block
    what: str
    remedy: str
    kind: type[Refused] = Refused

    def refused(self, file: Path, launch: LaunchSpec) -> Refused:
        """The same as a verdict that names the line of the launch block."""
        place = f"{file.name}:{launch.line_of(self.key)}"
        return self.kind("error", f"The kernel cannot be launched: {self.what} ({place}). {self.remedy}")


def by_architecture(file: KernelFile, arch: str) -> Refused | None:
    """Refuse what came with Hopper on a device before it, where the compiler would complain of what follows from it."""
    if compiler.capability(arch) >= HOPPER:
        return None
    for launch in file.launches:
        key, what = ("cluster", "clusters") if launch.clustered else ("args", "tensor maps")
        if launch.clustered or file.tensor_maps:
            return Impossible(
                key,
                f"{what} need sm_90 or later, and this device is {arch}",
                "Try it on the emulated H200 (--device emulator --arch sm_90a), or do without them. With "
                '`smallest_arch = "sm_90"` at the head of the launch block, such devices leave the file out.',
            ).refused(file.path, launch)
    return None


def by_limits(
    launch: Launch,
    static_shared: int,
    registers: int,
    limits: Limits,
    exchanged: bool = False,
    smaller: str = "",
) -> Impossible | None:
    """What of a launch the device cannot do; None where it can be made. `exchanged`: its block depends on the problem,
    and its grid does not. `smaller`: what makes its block small enough, where that is known."""
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    if threads > limits["max_threads_per_block"]:
        blocks = math.prod(launch.grid)
        return Impossible(
            "block",
            f"a block of {_by(launch.block)} = {threads} threads, where the device takes at most "
            f"{limits['max_threads_per_block']}",
            f"Are `grid` and `block` exchanged? `block` counts the threads of a block, {_by(launch.grid)} is `grid`."
            if exchanged and 1 < blocks <= limits["max_threads_per_block"]
            else smaller
            if smaller
            else "Take blocks of 256 and a grid of cdiv(N, 256), and count the blocks before in the index."
            if blocks == 1
            else f"Make `block` smaller, by the constant that it is made of where it has one, and {_MORE}.",
        )
    for axis, extent in zip("xyz", launch.block, strict=True):
        if extent > limits[f"max_block_dim_{axis}"]:
            most = limits[f"max_block_dim_{axis}"]
            return Impossible(
                "block",
                f"a block of {extent} threads in {axis}, where the device takes at most {most}",
                "Put more of the block's threads in x.",
            )
    for axis, extent in zip("xyz", launch.grid, strict=True):
        if extent > limits[f"max_grid_dim_{axis}"]:
            most = limits[f"max_grid_dim_{axis}"]
            return Impossible(
                "grid",
                f"a grid of {extent} blocks in {axis}, where the device takes at most {most}",
                "`grid` counts blocks: let each of them do more, such as several rows in a loop."
                if axis == "x"
                else "Put the longer side of the grid in x, or let each block do more.",
                GridEnds,
            )
    return (
        _of_cluster(launch)
        or _of_resources(threads, static_shared, launch.shared_bytes, registers, limits)
        or _of_cooperation(launch, static_shared + launch.shared_bytes, registers, limits)
    )


def smaller_block(file: KernelFile, spec: LaunchSpec, most: int) -> str:
    """The one constant whose number makes a block that no problem changes small enough, with its line; "" of others."""
    lines, before = file.source.splitlines(), numbers(file.source)
    found: list[tuple[int, int, str]] = []
    for number, line in enumerate(lines, 1):
        if not (defined := _DEFINED.search(line)):
            continue
        value = int(defined["value"])
        for power in _powers_below(value):
            changed = f"{line[: defined.start('value')]}{power}{line[defined.end('value') :]}"
            values = numbers("\n".join([*lines[: number - 1], changed, *lines[number:]]))
            if not all(side.names <= values.keys() for side in spec.block):
                break
            sides = [int(side.evaluate(values)) for side in spec.block]
            if not 0 < math.prod(sides) <= most:
                continue
            said = (
                f"`{defined['name']} = {power}` in line {number} makes that {_by(sides)} = {math.prod(sides)}"
            )
            names = {name for side in spec.grid for name in side.names}
            follows = any(before.get(name) != values.get(name) for name in names)
            found.append((math.prod(sides), value, f"{said}." if follows else f"{said}: {_MORE}."))
            break
    return max(found)[-1] if found else ""


def _powers_below(value: int) -> Iterator[int]:
    """The powers of two that are less, the largest first."""
    return (1 << bits for bits in reversed(range(min((value - 1).bit_length(), 16))))


def _of_cluster(launch: Launch) -> Impossible | None:
    if math.prod(launch.cluster) > clusters.MOST:
        return Impossible(
            "cluster",
            f"a cluster of {_by(launch.cluster)} = {math.prod(launch.cluster)} blocks, where {clusters.MOST} are the "
            "most",
            "Make `cluster` smaller.",
        )
    for axis, blocks, together in zip("xyz", launch.grid, launch.cluster, strict=True):
        if blocks % together:
            return Impossible(
                "grid",
                f"grid.{axis} is {blocks}, no multiple of the {together} blocks of a cluster",
                "Round the grid up to a multiple of `cluster`, and let blocks without work leave.",
            )
    return None


def _of_resources(
    threads: int, static_shared: int, dynamic_shared: int, registers: int, limits: Limits
) -> Impossible | None:
    shared = static_shared + dynamic_shared
    if shared > limits["max_shared_memory_per_block_optin"]:
        return Impossible(
            "shared",
            f"{shared:,} bytes of shared memory a block ({static_shared:,} static, {dynamic_shared:,} "
            f"dynamic), where the device has {limits['max_shared_memory_per_block_optin']:,}",
            "Make the tiles smaller.",
        )
    # Registers are given to whole warps, in units of 256.
    taken = -(-threads // 32) * -(-registers * 32 // 256) * 256
    if taken > limits["max_registers_per_block"]:
        return Impossible(
            "block",
            f"{threads} threads of {registers} registers need {taken:,}, where a block has at most "
            f"{limits['max_registers_per_block']:,}",
            "Make the block smaller, or add __launch_bounds__(threads) to the kernel.",
        )
    return None


def _of_cooperation(launch: Launch, shared_bytes: int, registers: int, limits: Limits) -> Impossible | None:
    """Blocks that wait for one another all have to be resident."""
    if not launch.cooperative:
        return None
    arch = f"sm_{limits['compute_capability_major']}{limits['compute_capability_minor']}"
    try:
        sm = devices.capability(arch)
    except WarpladderError:  # whose occupancy is not known: the driver decides
        return None
    fit = occupancy(sm, math.prod(launch.block), registers, shared_bytes).blocks_per_sm
    most = fit * limits["multiprocessor_count"]
    if math.prod(launch.grid) <= most:
        return None
    each = "SMS" if fit == 1 else f"{fit} * SMS"
    return Impossible(
        "grid",
        f"a cooperative launch of {math.prod(launch.grid):,} blocks, where the device holds {most:,} of this kernel's "
        "at a time",
        f'Launch no more than that, such as `grid = ["{each}"]`, and let each block loop over its share of the work.',
    )


def _by(extents: Sequence[int]) -> str:
    return " × ".join(str(extent) for extent in extents)
