"""What is odd about a kernel that failed: parameters of other types than what it is passed, constants nobody set; and
what to look at where it uses TMA or wgmma.

This refuses nothing. To move floats as unsigned words, or halves in pairs, is honest; but where a kernel has failed,
its reader wants to know that `out` went through a double*.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain

from grader.errors import WarpladderError
from grader.findings import remedies
from grader.judge.child.protocol import Launch
from grader.judge.kernels.compiled import Kernel
from grader.workbook import comparisons, compiler, cuda_source
from grader.workbook.launches.spec import SM_COUNT, Argument, LaunchSpec

_NAMES = {
    "float16": "half",
    "bfloat16": "nv_bfloat16",
    "float32": "float",
    "float64": "double",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "int8": "signed char",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned",
    "uint64": "unsigned long long",
}
_TO_GRID = re.compile(r"<=?\s*gridDim\.x\b")
_INDEX = re.compile(r"\b(?:thread|block)Idx\b|\b(?:this_)?(?:grid|thread_block)\b|%(?:cta)?tid\b")
_GOES_ROUND = re.compile(r"\bgridDim\b|\bthis_grid\b|=\s*atomic\w+\s*\(")
_FEW_BLOCKS = (
    "The grid, {grid}, has as many blocks as the GPU holds, however many elements there are, and each thread takes "
    "one: let it go on by all threads of the grid, in a loop with `i += gridDim.{axis} * blockDim.{axis}`."
)
_ALL_DO_ALL = (
    "The kernel uses neither threadIdx nor blockIdx, so that each of its {threads:,} threads does all of the work. Let "
    "each take elements of its own, from `blockIdx.x * blockDim.x + threadIdx.x` on."
)
_UNUSED = (
    "The {of} has {many} {whose} along y, and the kernel does not use {index}: all {many} do the same. Take elements "
    "by `blockIdx.y * blockDim.y + threadIdx.y` too, or give {sides} x alone."
)
_WHOLE = ("int", "unsigned", "long", "unsigned long", "long long", "unsigned long long")
_BYTES = ("char", "signed char", "unsigned char")


def of(kernel: Kernel, arch: str) -> str | None:
    """A sentence about the first thing that is odd, if anything is."""
    return of_names(kernel) or of_types(kernel, arch) or of_constants(kernel)


def of_names(kernel: Kernel) -> str | None:
    """A sentence about a kernel whose parameters are called as what they are passed, in another order."""
    for launch in kernel.file.launches:
        given = list(_texts(launch))
        declared = re.search(
            rf"\b{re.escape(launch.kernel)}\s*\(([^)]{{0,1000}})\)\s*\{{", kernel.file.source
        )
        named = re.findall(r"(\w+)\s*(?:,|$)", declared[1]) if declared else []
        if named != given and sorted(named) == sorted(given):
            return (
                f"The parameters of `{launch.kernel}` are called {', '.join(named)}, in this order, and are passed "
                f"{', '.join(given)}. Arguments go by place and not by name: put both lists into one order."
            )
    return None


def of_threads(kernel: Kernel, launches: Sequence[Launch]) -> str | None:
    """What a launch has along y that its kernel does not ask for, or the other way round; blocks of other sizes than
    its kernel counts; and halves of what is no power of two."""
    if len(launches) != 1:
        return next(_of_halves(kernel, launches), None)
    (launch,) = launches
    one_side = kernel.file.launches[0].block[1].text == "1"
    if launch.block[1] == 1 and one_side and launch.block[0] > 1 and _asks(kernel, launch, "thread"):
        return "The kernel uses threadIdx.y, and a block has one thread in y: `block` takes two numbers."
    every = (of_unused(kernel, launches), *_of_blocks(kernel, launch), *_of_halves(kernel, launches))
    return next(filter(None, every), None)


def of_same_work(kernel: Kernel, launches: Sequence[Launch]) -> str | None:
    """Why all threads, or all along y, do the same: their kernel does not ask which of them they are."""
    threads = sum(math.prod(launch.grid) * math.prod(launch.block) for launch in launches)
    if threads > 1 and not _INDEX.search(cuda_source.plain(kernel.file.source)):
        return _ALL_DO_ALL.format(threads=threads)
    return of_unused(kernel, launches)


def of_own_grid(kernel: Kernel) -> str:
    """That a kernel of one block goes on to gridDim.x, which is meant to be that of an earlier launch; "" of others."""
    text = cuda_source.plain(kernel.file.source)
    for launch in kernel.file.launches[1:]:
        body = cuda_source.kernel_body(text, launch.kernel) if launch.grid[0].text == "1" else None
        if body and (found := _TO_GRID.search(text, *body)):
            line = cuda_source.line_at(text, found.start())
            return (
                f"Line {line}: gridDim.x is how many blocks this launch has, 1, and not the one before: pass that as "
                "an argument."
            )
    return ""


def of_few_blocks(kernel: Kernel) -> str | None:
    """That there are as many blocks as the device holds at a time, and that no thread takes more than one element."""
    text = cuda_source.plain(kernel.file.source)
    sizes = "|".join(cuda_source.int_sizes(text)[0])
    over_size = rf"\b(?:for|while)\s*\([^{{}}]*<=?\s*(?:{sizes})\b"
    if not sizes or _GOES_ROUND.search(text) or re.search(over_size, text):
        return None
    sides = (side for launch in kernel.file.launches for side in zip(launch.grid, "xyz", strict=True))
    said = (
        _FEW_BLOCKS.format(grid=given.text, axis=axis) for given, axis in sides if SM_COUNT in given.names
    )
    return next(said, None)


def of_unused(kernel: Kernel, launches: Sequence[Launch]) -> str | None:
    """What a launch has along y that its kernel does not ask for."""
    if len(launches) != 1:
        return None
    (launch,) = launches
    blocks = launch.grid[1] > 1 and not _asks(kernel, launch, "block")
    if launch.block[1] > 1 and not _asks(kernel, launch, "thread"):
        sides = "`grid` and `block`" if blocks else "`block`"
        return _UNUSED.format(
            of="block", many=launch.block[1], whose="threads", index="threadIdx.y", sides=sides
        )
    if blocks:
        return _UNUSED.format(
            of="grid", many=launch.grid[1], whose="blocks", index="blockIdx.y", sides="`grid`"
        )
    return None


def _asks(kernel: Kernel, launch: Launch, of: str) -> bool:
    """Whether a kernel asks for the thread's, or the block's, index in y."""
    asks = f"{of}Idx.y" in kernel.file.source
    if len(kernel.build.lowered) > 1:  # another of them may be the one that asks
        register = {"thread": "%tid.y", "block": "%ctaid.y"}[of]
        asks = asks and register in comparisons.body(kernel.build.ptx, launch.symbol)
    return asks


def _of_halves(kernel: Kernel, launches: Sequence[Launch]) -> Iterator[str]:
    """Trees of halves that come to an odd number, of which the last element has no other half. Where launches have
    blocks of several sizes, nothing is known of blockDim.x."""
    blocks = {launch.block[0] for launch in launches}
    for found in cuda_source.halved(kernel.file.source):
        elements = found.elements or (min(blocks) if len(blocks) == 1 else 1)
        odd = elements // (elements & -elements)
        if odd > 1:
            power = 1 << elements.bit_length()
            yield (
                f"Line {found.line} halves {elements}, which is no power of two: of {odd} elements that are left the "
                f"last is not added. Take {power // 2} or {power}."
            )


def _of_blocks(kernel: Kernel, launch: Launch) -> Iterator[str]:
    """Indices over all blocks that count other blocks than the launch has. In a loop a block may have more elements
    than threads."""
    for found in cuda_source.counted(kernel.file.source):
        threads = launch.block["xyz".index(found.axis)]
        if found.factor is None and threads > 1:
            yield (
                f"Line {found.line} adds threadIdx.{found.axis} to the number of the block: block 1 begins at element "
                f"{threads}, which is blockIdx.{found.axis} * blockDim.{found.axis}."
            )
    differ = cuda_source.other_blocks(kernel.file.source, launch.block)
    if differ and not cuda_source.loops(kernel.file.source):
        yield " ".join(_of_count(kernel, launch, found) for found in differ)


def _of_count(kernel: Kernel, launch: Launch, found: cuda_source.Counted) -> str:
    threads, counted = launch.block["xyz".index(found.axis)], found.threads or 0
    return (
        f"Line {found.line} counts {counted} threads a block in {found.axis}, and the launch block has {threads}: "
        f"{_one_size(counted, threads, found.axis, kernel.file.source)}."
    )


def _one_size(counted: int, threads: int, axis: str, source: str) -> str:
    """What mends a kernel that counts other blocks than it is launched with. Of larger ones the grid may have too few
    for those that there are. A tile of as many rows stays as it is."""
    if counted < threads:
        return f"let both use one constant, or blockDim.{axis}"
    arrays = chain.from_iterable(cuda_source.shared_arrays(source).values())
    if counted % threads == 0 and any(
        len(item.extents) == 2 and item.extents[0] == counted for item in arrays
    ):
        return remedies.TAKE_SEVERAL.format(times=counted // threads, axis=axis, all=counted, threads=threads)
    loop = (
        f", or let each thread go on by {threads} until {counted} are done" if counted % threads == 0 else ""
    )
    return f"let both, and `grid`, use one constant{loop}"


def of_return(kernel: Kernel) -> str | None:
    """A sentence about threads that return in front of a barrier, behind which they may have something to write."""
    barrier = cuda_source.barrier(kernel.file.source)
    line = None if barrier is None else cuda_source.early_return(kernel.file.source, barrier)
    if line is None:
        return None
    return (
        f"Threads that return in line {line} write nothing, and behind the barrier in line {barrier} they may have "
        "other elements than in front of it: put the condition on the loads and the stores."
    )


def of_tiles(kernel: Kernel) -> str | None:
    """What to compare in a kernel whose result is wrong and whose tiles come by TMA or are multiplied by wgmma."""
    copies, products = (
        f"{name}." in kernel.build.ptx for name in ("cp.async.bulk.tensor", "wgmma.mma_async")
    )
    looks = []
    if copies:
        looks.append(
            "the coordinates of each box, the innermost dimension first, as against `shape`, outermost first"
        )
    if products:
        looks.append(
            "each wgmma's descriptors: the start of the tile and of every step of k, and both distances"
        )
    if copies and products:
        looks.append("the swizzle, which the tensor map and the descriptor have to tell alike")
    return (
        f"The kernel uses {' and '.join(_units(copies, products))}: check {'; '.join(looks)}."
        if looks
        else None
    )


def _units(copies: bool, products: bool) -> Iterator[str]:
    if copies:
        yield "TMA"
    if products:
        yield "wgmma"


def of_constants(kernel: Kernel) -> str | None:
    """A sentence about a `__constant__` variable that is used and that no launch copies anything into."""
    filled = {variable for launch in kernel.file.launches for variable, _ in launch.constant}
    for variable in compiler.zero_constants(kernel.build.ptx):
        if variable not in filled:
            return (
                f"Nothing is copied into the __constant__ variable `{variable}`, so it holds zeros: write "
                f'constant = {{ {variable} = "…" }} into the launch block, with the name of an array.'
            )
    return None


def of_types(kernel: Kernel, arch: str) -> str | None:
    """A sentence about the first parameter whose type is not that of what it is passed, if there is one."""
    types: dict[int, tuple[str | None, ...]] = {}
    for number, launch in enumerate(kernel.file.launches):
        try:
            types[number] = compiler.parameter_types(
                kernel.file.source, launch.kernel, len(launch.args), file=kernel.file.path, arch=arch
            )
        except WarpladderError:
            continue
    found = [text for number, named in types.items() for text in _of_launch(kernel, number, named)]
    return next(iter([*found, *_of_outputs(kernel, types)]), None)


def _of_launch(kernel: Kernel, number: int, types: tuple[str | None, ...]) -> Iterator[str]:
    launch = kernel.file.launches[number]
    for item, named in zip(launch.args, types, strict=True):
        meant = _meant(kernel, item)
        if named is None or meant is None or _suits(named, meant):
            continue
        what = f"`{item}`" if isinstance(item, str) else f"`{item.text}`"
        kind = "an array of " if meant.endswith("*") else "of type "
        yield f"`{launch.kernel}` takes {what} as {named}, and it is {kind}{meant.removesuffix('*')}."


def _meant(kernel: Kernel, item: Argument) -> str | None:
    """The type of what is passed: "float*", "int"; None where C++ may call it by several names."""
    if not isinstance(item, str):
        return "int"
    if item in {found.name for found in kernel.file.tensor_maps}:
        return None
    name = _NAMES.get(kernel.file.dtype(item).name)
    by_value = item in {given.name for given in kernel.file.signature.by_value}
    return name if name is None or by_value else f"{name}*"


def _suits(named: str, meant: str) -> bool:
    element, wanted = named.removeprefix("const ").removesuffix("*"), meant.removesuffix("*")
    if element == wanted or (
        element in _BYTES and wanted != "unsigned char"
    ):  # whose values a char does not hold
        return True
    return element in _WHOLE and wanted in _WHOLE


def _of_outputs(kernel: Kernel, types: dict[int, tuple[str | None, ...]]) -> Iterator[str]:
    """Outputs that go to pointers to const alone, as when two arguments have changed places."""
    signature = kernel.file.signature
    for output in signature.outputs:
        takers: list[tuple[LaunchSpec, str | None]] = [
            (launch, named)
            for number, launch in enumerate(kernel.file.launches)
            for item, named in zip(launch.args, types.get(number, ()), strict=False)
            if item == output.name
        ]
        if takers and all(named is not None and named.startswith("const ") for _, named in takers):
            launch, named = takers[0]
            yield (
                f"`{launch.kernel}` takes `{output.name}` as {named}, so it cannot be what is written: is the order "
                f"of its parameters that of `args`, which are {', '.join(_texts(launch))}?"
            )


def _texts(launch: LaunchSpec) -> Iterator[str]:
    for item in launch.args:
        yield item if isinstance(item, str) else item.text
