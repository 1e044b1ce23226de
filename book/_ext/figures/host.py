"""Host code: two memories and the calls between them, when calls return, where errors are reported, two streams."""

from __future__ import annotations

from figures.chart import arrow, block
from grader.analysis.devices import named
from grader.emulator.streams.commands import (
    AwaitEvent,
    Buffer,
    Command,
    Copy,
    LaunchKernel,
    Place,
    RecordEvent,
    Recording,
    Space,
    Synchronise,
)
from grader.emulator.streams.timeline import Timeline, simulate
from grader.judge.schedules.intervals import simulated
from grader.report import pictures
from grader.report.pictures.svg import Sheet, heading
from grader.workbook import units

WIDTH = 760.0
BOARD = named("H200")
ELEMENTS = 1 << 24
FLOAT = 4  # bytes
A, B, C, D_A, D_B, D_C = range(6)  # buffers: three of the host, three of the device


def memories() -> str:
    """The host's memory and the GPU's, and which call does what to them."""
    title = "Two memories, and the calls between them"
    below = "The arrays d_a, d_b and d_c have addresses that mean nothing to the host, and a, b and c none for the GPU."
    sheet = Sheet(WIDTH, 330, title, below)
    heading(sheet, title, below)
    for x, name in ((16, "the host's memory"), (494, "the GPU's memory")):
        sheet.rect(x, 64, 250, 250, "none", outline="dim", radius=8)
        sheet.text(x + 12, 86, name, bold=True)
    rows = (
        ("a", "blue", "cudaMemcpy, HostToDevice", True),
        ("b", "blue", "cudaMemcpy, HostToDevice", True),
        ("c", "orange", "cudaMemcpy, DeviceToHost", False),
    )
    for row, (name, colour, call, there) in enumerate(rows):
        y = 100 + 50 * row
        block(sheet, 30, y, 222, 32, colour, name)
        block(sheet, 508, y, 222, 32, colour, f"d_{name}")
        ends = [(270, y + 16), (490, y + 16)]
        arrow(sheet, *(ends if there else ends[::-1]))
        sheet.text(380, y + 8, call, "dim", size=12, anchor="middle")
    sheet.text(30, 268, "new, std::vector, malloc", "dim", size=12)
    sheet.text(508, 268, "cudaMalloc … cudaFree", "dim", size=12)
    block(sheet, 508, 276, 222, 28, "green", "kernels run here")
    arrow(sheet, (270, 290), (500, 290))
    sheet.text(380, 282, "vector_add<<<grid, block>>>(…)", "dim", size=12, anchor="middle")
    return sheet.render()


def returns() -> str:
    """Of each call, how long the host is in it, and when its work is done on the GPU."""
    title = "A launch returns before the kernel has begun"
    below = "Time runs to the right; lengths are not to scale. Blue: the host is in the call. Green: the GPU works."
    calls = (
        ("cudaMemcpy to the GPU", (0, 4), (1, 4)),
        ("cudaEventRecord(start)", (4, 5), None),
        ("vector_add<<<…>>>", (5, 6), (7, 11)),
        ("cudaGetLastError", (6, 7), None),
        ("cudaEventRecord(stop)", (7, 8), None),
        ("cudaEventSynchronize(stop)", (8, 11.4), None),
        ("cudaMemcpy to the host", (11.4, 15), (12, 15)),
    )
    sheet = Sheet(WIDTH, 84 + 30 * len(calls), title, below)
    heading(sheet, title, below)
    left, scale = 216.0, (WIDTH - 216.0 - 16.0) / 15
    for row, (name, host, device) in enumerate(calls):
        y = 66 + 30 * row
        sheet.text(16, y + 17, name, size=12)
        sheet.line([(left, y + 28), (WIDTH - 16, y + 28)], "grid", 1)
        sheet.rect(left + scale * host[0], y + 2, scale * (host[1] - host[0]) - 2, 11, "blue", radius=2)
        if device is not None:
            sheet.rect(
                left + scale * device[0], y + 15, scale * (device[1] - device[0]) - 2, 11, "green", radius=2
            )
    return sheet.render()


def errors() -> str:
    """The three places where an error is reported."""
    title = "Where an error is reported"
    below = "Whoever does not ask there hears of it later, from some other call, or never."
    rows = (
        (
            "A call cannot do what it is asked",
            "no memory left; a wrong size",
            "what that call returns",
            "blue",
        ),
        ("A launch is refused", "2048 threads a block; no blocks", "cudaGetLastError(), after it", "orange"),
        (
            "A kernel fails while it runs",
            "an access out of bounds",
            "what the next waiting call returns",
            "red",
        ),
    )
    sheet = Sheet(WIDTH, 96 + 58 * len(rows), title, below)
    heading(sheet, title, below)
    for x, name in ((16, "what happens"), (310, "such as"), (536, "who reports it")):
        sheet.text(x, 76, name, "dim", size=12)
    for row, (what, such, where, colour) in enumerate(rows):
        y = 86 + 58 * row
        block(sheet, 16, y, 274, 40, colour, what)
        sheet.text(310, y + 25, such, "dim", size=12)
        sheet.text(536, y + 25, where, size=12)
    return sheet.render()


def one_stream() -> str:
    """vector_add.cu: copies in, the kernel, a copy out, one after the other."""
    run = _one_stream()
    return _intervals(f"vector_add.cu, {units.number(ELEMENTS)} elements, {BOARD.name}", run)


def two_streams() -> str:
    """two_streams.cu: the second half is copied in while the first is copied out."""
    run = _two_streams()
    return _intervals(f"two_streams.cu, {units.number(ELEMENTS)} elements, {BOARD.name}", run)


def _intervals(title: str, run: Timeline) -> str:
    return pictures.intervals(simulated(run), "modelled", title)


def _one_stream() -> Timeline:
    """Calls that wait, and pageable memory."""
    nbytes = ELEMENTS * FLOAT
    commands: list[Command] = [
        _copy(D_A, A, 0, nbytes, 0, waits=True),
        _copy(D_B, B, 0, nbytes, 0, waits=True),
        RecordEvent(0, 0),
        _launch(ELEMENTS, 0),
        RecordEvent(1, 0),
        AwaitEvent(1),
        _copy(C, D_C, 0, nbytes, 0, waits=True),
    ]
    return _run(commands, "pageable", (True,))


def _two_streams() -> Timeline:
    """Calls that return at once, page-locked memory, and half of the work in each stream."""
    half = ELEMENTS // 2
    commands: list[Command] = []
    for part in range(2):
        first, nbytes, stream = part * half * FLOAT, half * FLOAT, part + 1
        commands += [
            _copy(D_A, A, first, nbytes, stream),
            _copy(D_B, B, first, nbytes, stream),
            _launch(half, stream),
            _copy(C, D_C, first, nbytes, stream),
        ]
    return _run([*commands, Synchronise(1), Synchronise(2)], "pinned", (True, True, True))


def _copy(to: int, source: int, offset: int, nbytes: int, stream: int, *, waits: bool = False) -> Copy:
    return Copy(Place(to, offset), Place(source, offset), nbytes, stream, waits)


def _launch(elements: int, stream: int) -> LaunchKernel:
    return LaunchKernel("vector_add", (elements // 256, 1, 1), (256, 1, 1), 0, (), stream)


def _run(commands: list[Command], host: Space, streams: tuple[bool, ...]) -> Timeline:
    nbytes = ELEMENTS * FLOAT
    buffers = (*(Buffer(host, nbytes) for _ in range(3)), *(Buffer("device", nbytes) for _ in range(3)))
    return simulate(Recording(buffers, streams, 2, (), tuple(commands)), BOARD.link, _kernel_s)


def _kernel_s(launch: LaunchKernel) -> float:
    """Three arrays cross DRAM, and little else counts."""
    return 3 * FLOAT * launch.grid[0] * launch.block[0] / BOARD.dram_copy
