"""The commands of analysis: what fits on a multiprocessor, what bounds a ladder, and what the model knows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from grader.cli.options import (
    ArchOption,
    DeviceOption,
    JobsOption,
    PlotOption,
    SetOption,
    TopicName,
    WithOption,
    app,
    check_outputs,
    console_for,
    problem_of,
    write_file,
)
from grader.errors import WarpladderError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from grader.analysis.devices import DeviceSpec
    from grader.analysis.what_if import Modelled
    from grader.report.occupancies import Block
    from grader.results import Climb

OnOption = Annotated[
    str | None, typer.Option("--on", metavar="GPU", help="One GPU, such as H200 or 'RTX 4090'.")
]


@app.command()
def occupancy(
    topic: Annotated[str | None, typer.Argument(metavar="TOPIC", help="A topic's name.")] = None,
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="A .cu file, or a rung's name.")] = None,
    threads: Annotated[int | None, typer.Option("--threads", min=1, help="Threads of a block.")] = None,
    registers: Annotated[int, typer.Option("--registers", min=1, help="Registers of a thread.")] = 32,
    shared: Annotated[
        str, typer.Option("--shared", metavar="BYTES", help="Shared memory of a block: 8192 or 8K.")
    ] = "0",
    on: OnOption = None,
    plot: PlotOption = None,
    by: Annotated[
        Literal["threads", "registers", "shared"], typer.Option("--by", help="What the drawing varies.")
    ] = "threads",
) -> None:
    """Compute occupancy and its limiter for a block or a kernel file.

    A kernel file is compiled for each GPU. What the next step up needs is shown as well. Without --on, every GPU that
    is known is taken.

    \b
    Examples:
      ladder occupancy --threads 256 --registers 42
      ladder occupancy --threads 256 --registers 42 --shared 16K --on H200
      ladder occupancy gemm 05_float4 --on A100
      ladder occupancy gemm gemm.cu --on H200 --plot occupancy.svg
      ladder occupancy --threads 128 --registers 64 --on T4 --plot t4.svg
    """
    from grader.analysis.devices import boards, named
    from grader.report import occupancies

    if (topic is None) == (threads is None) or (topic is not None and file is None):
        raise WarpladderError(
            "it takes either a block's --threads, or a TOPIC and a FILE",
            remedy="try ladder occupancy --threads 256 --registers 42",
        )
    if plot is not None and on is None:
        raise WarpladderError("--plot draws a block on one GPU", remedy="say which, as in --on H200")
    check_outputs(plot=plot)
    chosen = boards() if on is None else (named(on),)
    console = console_for()
    if topic is not None and file is not None:
        found = _of_file(topic, file, chosen)
        for name, rows in found.items():
            console.print(f"[bold]{name}[/bold]")
            console.print(_views(rows, changing=True))
        blocks = [block for rows in found.values() for _, block in rows]
    else:
        assert threads is not None
        blocks = [occupancies.Block(threads, registers, _bytes(shared))]
        if on is None:
            console.print(f"[bold]A block of {blocks[0]}[/bold]")
        console.print(_views([(spec, blocks[0]) for spec in chosen], changing=False))
    if plot is not None:
        write_file(plot, _drawn(chosen[0], blocks, by))


def _drawn(spec: DeviceSpec, blocks: list[Block], by: Literal["threads", "registers", "shared"]) -> str:
    """A block's occupancy on a GPU as a picture; raises WarpladderError where there is more than one."""
    from grader.report import pictures

    if len(blocks) != 1:
        raise WarpladderError(
            f"the file launches {len(blocks)} kernels, and --plot draws one block",
            remedy="draw one of them by its --threads, --registers and --shared, which stand above",
        )
    (block,) = blocks
    return pictures.occupancy(
        spec, by, threads=block.threads, registers=block.registers, shared_bytes=block.shared_bytes
    )


def _views(rows: list[tuple[DeviceSpec, Block]], changing: bool) -> RenderableType:
    from grader.report import occupancies

    return occupancies.one(*rows[0]) if len(rows) == 1 else occupancies.table(rows, changing)


def _of_file(
    topic: str, file: str, chosen: tuple[DeviceSpec, ...]
) -> dict[str, list[tuple[DeviceSpec, Block]]]:
    """Each kernel of a file, at the topic's main sizes: a block of it on each device."""
    from grader.judge.footprint import footprints
    from grader.report.occupancies import Block
    from grader.workbook.topics import load

    loaded = load(topic)
    kernel = loaded.kernel_file(file)
    found: dict[str, list[tuple[DeviceSpec, Block]]] = {}
    for spec in chosen:
        for item in footprints(kernel, spec, loaded.problem("main", None)):
            block = Block(item.threads, item.registers, item.shared_bytes)
            rows = found.setdefault(f"{item.kernel}, blocks of {item.threads} threads", [])
            if (spec, block) not in rows:
                rows.append((spec, block))
    return found


def _bytes(text: str) -> int:
    """ "8192" or "8K"; raises WarpladderError."""
    digits, factor = (text[:-1], 1024) if text[-1:] in "kK" and text else (text, 1)
    if not (digits.isascii() and digits.isdecimal()):
        raise WarpladderError(f"--shared {text} is no number of bytes", remedy="write 8192 or 8K")
    return int(digits) * factor


@app.command()
def roofline(
    topic: TopicName,
    record: Annotated[
        str | None,
        typer.Option("--record", metavar="FILE|GPU", help="Take a record, such as h200, and run nothing."),
    ] = None,
    own: WithOption = None,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
    sizes: SetOption = None,
    plot: PlotOption = None,
) -> None:
    """Place each rung of a ladder under the roofs of its device.

    Its compute-to-memory ratios stand beside it. The roofs are DRAM, the L2 cache, shared memory, FP32
    multiply-adds and Tensor Cores. The ladder is climbed for it, or a record of an earlier climb is read.

    \b
    Examples:
      ladder roofline gemm --record h200
      ladder roofline gemm --record h200 --plot roofline.svg
      ladder roofline transpose --set M=2048 --set N=2048
      ladder roofline gemm --with gemm.cu
      ladder roofline gemm --record my-records/rtx-4090/gemm.json
    """
    from grader.report import rooflines

    check_outputs(plot=plot)
    if own is not None and record is not None:
        raise WarpladderError("a record has no row for --with", remedy="leave out --record")
    result = _climbed(topic, device, arch, sizes, own) if record is None else _recorded(topic, record)
    console_for().print(rooflines.view(result))
    if plot is not None:
        from grader.report import pictures

        write_file(plot, pictures.roofline(result))


def _climbed(topic: str, device: str, arch: str | None, sizes: list[str] | None, own: Path | None) -> Climb:
    from grader.judge.climb import climb
    from grader.report import progress
    from grader.workbook.topics import load

    loaded = load(topic) if own is None else load(topic).with_row(own)
    with progress.of_rungs(loaded.name, loaded.ladder.ids) as report:
        return climb(loaded, device, problem_of(sizes, loaded.signature), report, arch=arch)


def _recorded(topic: str, record: str) -> Climb:
    """A record by its path, or the committed one of a GPU, such as "h200"."""
    from grader.report import records

    (path,) = records.find(record, [topic])
    found = records.read(path)
    if found.topic != topic:
        raise WarpladderError(f"it is a record of {found.topic}, not of {topic}", file=path)
    return found


@app.command()
def model(
    topic: Annotated[
        list[str] | None,
        typer.Argument(metavar="TOPIC", help="Topics; all that have a record if none is given."),
    ] = None,
    on: Annotated[
        str | None, typer.Option("--on", metavar="GPU", help="What would it take on that GPU? Extrapolated.")
    ] = None,
    record: Annotated[
        str | None,
        typer.Option("--record", metavar="FILE|GPU", help="This record, or those of this GPU alone."),
    ] = None,
    own: WithOption = None,
    jobs: JobsOption = None,
) -> None:
    """Compare modelled with measured times, or predict another GPU.

    The model is what times come from on a machine without a GPU. Its error is printed rung by rung: each rung is
    emulated in part, some seconds a ladder. With --on it says what another GPU would take: extrapolated, never
    measured.

    \b
    Examples:
      ladder model
      ladder model gemm transpose
      ladder model gemm --on A100
      ladder model gemm --on A100 --with gemm.cu
      ladder model transpose --on "RTX 4090" --record h200
    """
    from grader.analysis.devices import named
    from grader.report import records

    if own is not None and len(topic or ()) != 1:
        raise WarpladderError("--with is for one topic", remedy="name it: ladder model gemm --with gemm.cu")
    elsewhere = None if on is None else named(on)
    chosen = [records.read(path) for path in records.find(record, topic or None)]
    if elsewhere is None:
        _print_error(chosen, jobs, own)
    else:
        for number, item in enumerate(chosen):
            _print_what_if(item, elsewhere, jobs, own, first=number == 0)


def _print_error(chosen: list[Climb], jobs: int | None, own: Path | None) -> None:
    from grader.analysis import verification
    from grader.report import forecasts
    from grader.report.rooflines import device_of

    console, everything = console_for(), []
    for item in chosen:
        rungs = _forecast(item, device_of(item), jobs, own)
        pairs = verification.pairs(item, {name: found.seconds for name, found in rungs.items()})
        console.print(forecasts.error(item, pairs))
        if own is not None:
            console.print(forecasts.own(own.name, rungs[own.name]))
        console.print()
        everything += pairs
    console.print(forecasts.errors(everything, len(chosen)))


def _print_what_if(
    item: Climb, elsewhere: DeviceSpec, jobs: int | None, own: Path | None, first: bool
) -> None:
    from grader.analysis.what_if import what_if
    from grader.report import forecasts
    from grader.report.rooflines import device_of

    here, there = (_forecast(item, device, jobs, own) for device in (device_of(item), elsewhere))
    console = console_for()
    if not first:
        console.print()
    console.print(forecasts.what_if(item, elsewhere, what_if(item.rungs, here, there)))


def _forecast(record: Climb, device: DeviceSpec, jobs: int | None, own: Path | None) -> dict[str, Modelled]:
    from grader.judge.forecast import forecast
    from grader.report import progress
    from grader.workbook.topics import load

    loaded = load(record.topic) if own is None else load(record.topic).with_row(own)
    with progress.of_rungs(f"{loaded.name} on {device.name}", loaded.ladder.ids) as report:
        return forecast(loaded, device, record.problem, report, jobs).rungs
