"""Whether the emulator computes what a GPU computes, bit for bit: products of Tensor Cores, copies by TMA, conversions,
arithmetic in every rounding, carries, what lanes tell each other.

    python benchmarks/gpu_results.py capture gpu.npz --device pycuda [GROUP ...]
    python benchmarks/gpu_results.py capture emulated.npz [GROUP ...]
    python benchmarks/gpu_results.py compare gpu.npz emulated.npz [--all]

`capture` runs the kernels of benchmarks/numerics and keeps what they leave in memory. `compare` prints what differs and
a line a group, and ends with 1 if anything differs by more than the type's documented rounding. The two need not happen
on one machine.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numerics import accumulation, copies, products, scalars, warpgroups, warps
from numerics.case import Argument, Array, Case, Group, Map

from grader import cuda
from grader.emulator.nvrtc import compilation
from grader.errors import WarpladderError

app = typer.Typer(help="See the head of this file.", add_completion=False, pretty_exceptions_enable=False)

GROUPS = {
    "mma": products.mma, "wmma": products.wmma, "wgmma": warpgroups.products, "layouts": warpgroups.layouts,
    "accumulation": accumulation.group, "copies": copies.group, "scalars": scalars.group, "warps": warps.group,
}  # fmt: skip
PROCESSES = multiprocessing.get_context("forkserver")
"""Forked from one without a CUDA context, in which nothing has to be imported again."""
COMPILERS = 16
"""Modules that are compiled at a time."""
SHOWN = 40
"""Differences a group that are printed."""


# ---- capture -----------------------------------------------------------------------------------------------------


@app.command()
def capture(
    out: Path,
    groups: Annotated[list[str] | None, typer.Argument(help="All, if none is given.")] = None,
    device: Annotated[str, typer.Option(help="pycuda or emulator")] = "emulator",
) -> None:
    """Run the kernels and keep their results."""
    results: dict[str, Array] = {}
    for name in groups or GROUPS:
        found = _captured(device, GROUPS[name]())
        results |= {f"{name}/{key}": value for key, value in found.items()}
        np.savez_compressed(out, **results)


def _captured(device: str, group: Group) -> dict[str, Array]:
    """A group's results. A launch that fails takes its CUDA context along: another process goes on with the next."""
    results: dict[str, Array] = {}
    tried: set[str] = set()
    while len(tried) < len(group.cases):
        before = len(tried)
        receiver, sender = PROCESSES.Pipe(duplex=False)
        child = PROCESSES.Process(target=_run, args=(sender, device, group, frozenset(tried)))
        child.start()
        sender.close()
        with suppress(EOFError):
            while True:
                name, value = receiver.recv()
                if value is None:
                    tried.add(name)
                else:
                    results[name] = value
        child.join()
        if len(tried) == before:
            typer.echo(f"{group.name}: stopped", err=True)
            break
    return results


def _run(sender: Connection, device_name: str, group: Group, done: Set[str]) -> None:
    """Launches the cases that are not done, up to the first that fails; sends the name of each before it is launched,
    and what comes of it."""
    device = cuda.select(device_name)
    modules = [
        (source, left)
        for source, cases in group.modules()
        if (left := [case for case in cases if case.name not in done])
    ]
    build = partial(compilation.build, arch=device.arch)
    with ThreadPoolExecutor(COMPILERS) as pool:
        for built, (_, cases) in zip(
            pool.map(build, [source for source, _ in modules]), modules, strict=True
        ):
            image = built.image("emulator" if device.kind == "emulator" else "pycuda")
            module = device.ext.extended_module(image)
            for case in cases:
                sender.send((case.name, None))
                try:
                    function = module.get_function(case.kernel)
                    sender.send((case.name, _launched(device, function, case, case.arrays)))
                    if case.sizes is not None and device.kind == "emulator":
                        sender.send((case.name + SIZES, _launched(device, function, case, case.sizes)))
                except (device.driver.Error, WarpladderError) as error:
                    typer.echo(f"{group.name} {case.name}: {error}", err=True)
                    if device.kind == "gpu":
                        pool.shutdown(cancel_futures=True)
                        return


SIZES = " (sizes)"
"""Behind a case's name: its launch with numbers without signs."""


def _launched(device: cuda.Cuda, function: Any, case: Case, arrays: Mapping[str, Array]) -> Array:
    """The array of results as a launch leaves it."""
    driver = device.driver
    places = {name: driver.mem_alloc(array.nbytes) for name, array in arrays.items()}
    try:
        for name, array in arrays.items():
            driver.memcpy_htod(places[name], np.ascontiguousarray(array))
        arguments = [_argument(device, item, places) for item in case.arguments]
        function(*arguments, grid=(1, 1, 1), block=(case.threads, 1, 1))
        driver.Context.synchronize()
        result = np.empty_like(arrays[case.result])
        driver.memcpy_dtoh(result, places[case.result])
    finally:
        for place in places.values():
            place.free()
    for record in device.ext.launch_records():
        for finding in record.findings:
            typer.echo(f"{case.name}: {finding.kind} in line {finding.line}", err=True)
    return result


def _argument(device: cuda.Cuda, item: Argument, places: Mapping[str, Any]) -> Any:
    if isinstance(item, str):
        return np.uint64(int(places[item]))
    if isinstance(item, Map):
        address = int(places[item.array])
        return device.ext.tensor_map(
            address, item.data_type, item.dims, item.strides, item.box, **item.options
        )
    return item


# ---- compare -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """One case on both devices."""

    name: str
    differing: int
    """Elements."""
    size: int
    nans: int
    """Of those that differ, how many are NaN on both devices."""
    share: float | None
    """The largest difference as a share of the sum of the terms' sizes, where rounding is allowed."""
    allowed: float | None
    example: str

    @property
    def holds(self) -> bool:
        """Whether results are equal, or differ by what the type's rounding allows, or which NaN it is: PTX leaves that
        open."""
        if self.allowed is None or self.share is None:
            return self.differing == self.nans
        return self.share <= self.allowed


@app.command()
def compare(
    gpu: Path,
    emulated: Path,
    every: Annotated[bool, typer.Option("--all", help="Print also what is equal.")] = False,
) -> None:
    """Compare what two devices computed."""
    one, other = dict(np.load(gpu)), dict(np.load(emulated))
    wrong = 0
    for name, make in GROUPS.items():
        theirs, ours = (
            {key.partition("/")[2]: value for key, value in results.items() if key.startswith(f"{name}/")}
            for results in (one, other)
        )
        if not theirs:
            continue
        if name == "accumulation":
            typer.echo("\n".join(accumulation.report(theirs)))
            continue
        cases = make().cases
        missing = [case.name for case in cases if case.name not in theirs or case.name not in ours]
        compared = [_compared(case, theirs, ours) for case in cases if case.name not in missing]
        wrong += len(missing) + _show(name, compared, missing, every=every)
    sys.exit(1 if wrong else 0)


def _compared(case: Case, theirs: Mapping[str, Array], ours: Mapping[str, Array]) -> Compared:
    gpu, emulator = theirs[case.name], ours[case.name]
    bits = gpu.view(f"u{gpu.itemsize}")
    differ = np.flatnonzero(bits != emulator.view(bits.dtype))
    is_real = gpu.dtype.kind == "f"
    nans = int(np.isnan(gpu[differ]).astype(int) @ np.isnan(emulator[differ]).astype(int)) if is_real else 0
    share = None
    if case.share is not None:
        finite = np.isfinite(gpu)
        one, other = (values[finite].astype(np.float64) for values in (gpu, emulator))
        sizes = np.abs(ours[case.name + SIZES][finite].astype(np.float64))
        share = float(np.max(np.abs(one - other) / np.maximum(sizes, np.finfo(np.float64).tiny), initial=0))
        if (bits[~finite] != emulator.view(bits.dtype)[~finite]).any():
            share = np.inf
    example = ""
    if differ.size:
        at = int(differ[0])
        given = [
            f"{name} {array[at]!r}"
            for name, array in case.arrays.items()
            if array.size == gpu.size and name in "abc"
        ]
        example = f"[{at}] GPU {_text(gpu[at])}, emulator {_text(emulator[at])} {', '.join(given)}"
    return Compared(case.name, differ.size, gpu.size, nans, share, case.share, example)


def _text(value: Any) -> str:
    bits = int(np.asarray(value).view(f"u{value.itemsize}"))
    return f"{value} ({bits:#x})" if value.dtype.kind == "f" else f"{bits:#x}"


def _show(group: str, compared: Sequence[Compared], missing: Sequence[str], *, every: bool) -> int:
    """Prints a group; how many of its cases do not hold."""
    shown = 0
    for case in compared:
        if (not case.holds and shown < SHOWN) or every:
            shown += not case.holds
            typer.echo(f"{'ok ' if case.holds else 'BAD'} {group} {case.name}: {_difference(case)}")
    for name in missing:
        typer.echo(f"BAD {group} {name}: not run on both devices")
    by_kind: dict[str, Counter[bool]] = defaultdict(Counter)
    for case in compared:
        by_kind["bit for bit" if case.allowed is None else "within rounding"][case.holds] += 1
    counts = [f"{kind} {held[True]} of {held.total()}" for kind, held in by_kind.items()]
    largest = max((case.share for case in compared if case.share), default=None)
    rest = "" if largest is None else f"; largest rounding 2^{np.log2(largest):.1f} of the terms"
    other = sum(case.nans > 0 for case in compared)
    rest += f"; NaN of other bits in {other} cases" if other else ""
    typer.echo(f"{group}: {', '.join(counts)}{rest}")
    return sum(not case.holds for case in compared)


def _difference(case: Compared) -> str:
    if not case.differing:
        return "equal"
    nans = f", {case.nans} of them NaN on both" if case.nans else ""
    share = f", largest 2^{np.log2(case.share):.1f} of the terms" if case.share else ""
    return f"{case.differing} of {case.size} differ{nans}{share}: {case.example}"


if __name__ == "__main__":
    app()
