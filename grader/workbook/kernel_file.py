"""The head of a .cu file: the idea in prose, and the TOML block that says how its kernels are launched.

    // /// launch
    // [[launch]]
    // kernel = "transpose"
    // grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
    // block = ["TILE", 8]
    // ///

Rungs and submissions have the same form. `parse_kernel_file` reads one; `plan` makes concrete launches of it for
one problem, once the compiler has resolved the file's constants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from grader.errors import WarpladderError
from grader.workbook.compiler import declared_kernels
from grader.workbook.expressions import Expression, ExpressionError, nearest, parse
from grader.workbook.signature import Signature, dtype_of
from grader.workbook.source_file import SourceFile, read_source
from grader.workbook.strict_toml import Table, read

SM_COUNT = "SMS"
"""What expressions call the device's number of streaming multiprocessors."""

_OPENING = re.compile(r"//\s*///\s*launch\s*")
_CLOSING = re.compile(r"//\s*///\s*")
_LAUNCH_KEYS = (
    "kernel", "when", "args", "grid", "block", "shared", "zero", "constant", "cooperative", "cluster",
)  # fmt: skip
_NAME_EXPRESSION = re.compile(r"[A-Za-z_:][\w :<>,*&()+\-/%.'|^~!=?\[\]]{0,499}", re.ASCII)
"""What the compiler is asked to look up: nothing that could end the line, or begin another declaration."""
_MOST_LAUNCHES = 100
_LARGEST_INT = 2**31 - 1
_SCRATCH_DTYPES = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint32")


Argument = str | Expression
"""What a kernel is passed: a parameter of the signature or a scratch array by name, or the value of an expression
as an int, such as how many elements a scratch array holds."""


@dataclass(frozen=True)
class LaunchSpec:
    """One `[[launch]]`: a kernel and the expressions of its configuration."""

    kernel: str  # a C++ name expression: "gemm", "gemm<128>"
    args: tuple[Argument, ...]  # in the kernel's order
    grid: tuple[Expression, Expression, Expression]
    block: tuple[Expression, Expression, Expression]
    shared: Expression  # bytes of dynamic shared memory
    when: Expression | None  # the launch takes place where this holds
    zero: tuple[str, ...]  # arrays set to zero before the launch, within the timed part
    constant: tuple[tuple[str, str], ...]  # __constant__ variables and the arrays copied into them, likewise
    line: int  # of the file, where the table begins
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)  # of its keys

    def line_of(self, key: str) -> int:
        """Where a key stands; where the table begins if it does not."""
        return self.lines.get(key, self.line)


@dataclass(frozen=True)
class Scratch:
    """One `[[scratch]]`: an array that the file's launches share."""

    name: str
    dtype: np.dtype[np.generic]
    shape: tuple[Expression, ...]
    line: int  # of the file, where the shape stands


@dataclass(frozen=True, kw_only=True)
class KernelFile(SourceFile):
    """A .cu file with its launch block."""

    launches: tuple[LaunchSpec, ...]
    scratch: tuple[Scratch, ...]

    @property
    def kernels(self) -> tuple[str, ...]:
        """The name expressions to compile, each once."""
        return tuple(dict.fromkeys(launch.kernel for launch in self.launches))

    @property
    def constant_names(self) -> tuple[str, ...]:
        """The names the launch block uses and the problem does not supply: the file has to define them."""
        sizes = (size.name for size in self.signature.sizes)
        supplied = {SM_COUNT, *sizes, *(name for name, _ in self.signature.derived)}
        used = {name for expression in _expressions(self) for name in expression.names}
        return tuple(sorted(used - supplied))


@dataclass(frozen=True)
class PlannedLaunch:
    """One launch with its numbers."""

    kernel: str
    args: tuple[str | int, ...]  # an array or a size by name, or a number
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    zero: tuple[str, ...]
    constant: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ScratchArray:
    """One scratch array with its shape."""

    name: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class LaunchPlan:
    """What to run for one problem: the scratch arrays to allocate, then the launches in order."""

    launches: tuple[PlannedLaunch, ...]
    scratch: tuple[ScratchArray, ...]


def parse_kernel_file(path: Path, signature: Signature) -> KernelFile:
    """Read a kernel file; raises WarpladderError naming file and line."""
    return parse_source(read_source(path, "a .cu source file"), signature, path)


def parse_source(source: str, signature: Signature, path: Path) -> KernelFile:
    """Read a kernel file's text; `path` names it in messages. Raises WarpladderError."""
    lines = source.splitlines()
    opening, closing = _find_block(lines, source, signature, path)
    toml = [re.sub(r"^\s*// ?", "", line) for line in lines[opening + 1 : closing]]
    block = read(toml, path, first_line=opening + 2)
    block.allow("launch", "scratch", "side_step")
    scratch = tuple(_scratch(table, signature) for table in block.tables("scratch"))
    arrays = [item.name for item in scratch]
    if len(set(arrays)) < len(arrays):
        raise block.error("two scratch arrays have the same name", "scratch", "give each a name of its own")
    launches = tuple(_launch(table, signature, arrays) for table in block.tables("launch"))
    if not launches:
        raise block.error("the launch block launches nothing", remedy="add a [[launch]] table")
    if len(launches) > _MOST_LAUNCHES:
        raise block.error(f"{len(launches)} launches, where {_MOST_LAUNCHES} are the most", "launch")
    return KernelFile(
        path=path,
        idea=_idea(lines[:opening]),
        source=source,
        signature=signature,
        launches=launches,
        scratch=scratch,
        side_step=block.get("side_step", bool, False),
    )


def plan(file: KernelFile, problem: Mapping[str, int], constants: Mapping[str, int], sms: int) -> LaunchPlan:
    """The launches of `file` for one problem on a device with `sms` multiprocessors.

    `constants` has a value for each of `file.constant_names`. Scratch arrays that no launch of this problem
    takes are left out. Raises WarpladderError where an expression has no value, a grid or block is not
    positive, or no launch applies.
    """
    values = {**constants, **file.signature.with_derived(problem), SM_COUNT: sms}
    at = ", ".join(f"{name}={value}" for name, value in problem.items())

    def evaluate(expression: Expression, what: str, line: int, smallest: int) -> int:
        try:
            value = expression.whole(values)
        except ExpressionError as error:
            raise WarpladderError(f"{what}: {error}", file=file.path, line=line) from None
        if value < smallest:
            raise WarpladderError(
                f"{what} = `{expression.text}` is {value} where {at}",
                file=file.path,
                line=line,
                remedy=f"it has to be at least {smallest} for every problem; cdiv(a, b) rounds up, `//` down",
            )
        return value

    def argument(item: Argument, line: int) -> str | int:
        if isinstance(item, str):
            return item
        value = evaluate(item, "an argument", line, 0)
        if value > _LARGEST_INT:
            message = f"the argument `{item.text}` is {value} where {at}, more than an int holds"
            raise WarpladderError(message, file=file.path, line=line)
        return value

    def three(expressions: Sequence[Expression], what: str, line: int) -> tuple[int, int, int]:
        x, y, z = (evaluate(item, f"{what}[{axis}]", line, 1) for axis, item in enumerate(expressions))
        return x, y, z

    launches = tuple(
        PlannedLaunch(
            kernel=launch.kernel,
            args=tuple(argument(item, launch.line_of("args")) for item in launch.args),
            grid=three(launch.grid, "grid", launch.line_of("grid")),
            block=three(launch.block, "block", launch.line_of("block")),
            shared_bytes=evaluate(launch.shared, "shared", launch.line_of("shared"), 0),
            zero=launch.zero,
            constant=launch.constant,
        )
        for launch in file.launches
        if _applies(launch, values, file.path)
    )
    if not launches:
        raise WarpladderError(
            f"no launch applies where {at}: every `when` is false",
            file=file.path,
            line=file.launches[0].line_of("when"),
            remedy="add a launch without `when`, or one for the remaining sizes",
        )
    used = {name for launch in launches for name in (*launch.args, *launch.zero)}
    scratch = []
    for item in (item for item in file.scratch if item.name in used):
        shape = tuple(evaluate(side, f"shape of {item.name}", item.line, 1) for side in item.shape)
        scratch.append(ScratchArray(item.name, item.dtype, shape))
    return LaunchPlan(launches, tuple(scratch))


def _applies(launch: LaunchSpec, values: Mapping[str, int], path: Path) -> bool:
    try:
        return launch.when is None or bool(launch.when.evaluate(values))
    except ExpressionError as error:
        raise WarpladderError(f"when: {error}", file=path, line=launch.line_of("when")) from None


def _expressions(file: KernelFile) -> Iterator[Expression]:
    """Every expression of the launch block."""
    for launch in file.launches:
        yield from (*launch.grid, *launch.block, launch.shared)
        yield from (item for item in launch.args if isinstance(item, Expression))
        if launch.when:
            yield launch.when
    for item in file.scratch:
        yield from item.shape


def _find_block(lines: list[str], source: str, signature: Signature, path: Path) -> tuple[int, int]:
    """The indices of the opening and closing lines of the launch block."""
    openings = [number for number, line in enumerate(lines) if _OPENING.fullmatch(line.strip())]
    if not openings and path.suffix == ".py":
        raise WarpladderError(
            "this is a Python file, and the topic is written in CUDA C++",
            file=path,
            remedy="pass a .cu file; schedules in Python are for the topics that say so in `ladder topics`",
        )
    if not openings:
        raise WarpladderError(
            "missing launch block",
            file=path,
            line=1,
            remedy=f"put these lines at the top of the file:\n{_smallest_block(source, signature)}",
        )
    if len(openings) > 1:
        raise WarpladderError(
            "this is a second launch block",
            file=path,
            line=openings[1] + 1,
            remedy="keep one block, with a [[launch]] table for each launch",
        )
    opening = openings[0]
    for number in range(opening + 1, len(lines)):
        line = lines[number].strip()
        if _CLOSING.fullmatch(line):
            return opening, number
        if not line.startswith("//"):
            raise WarpladderError(
                "the launch block is not closed, and this line is no comment",
                file=path,
                line=number + 1,
                remedy="begin every line of the block with //, and end it with the line `// ///`",
            )
    raise WarpladderError(
        "the launch block is not closed", file=path, line=opening + 1, remedy="end it with the line `// ///`"
    )


def _smallest_block(source: str, signature: Signature) -> str:
    """A block that suits the signature, for a learner to start from."""
    kernels = declared_kernels(source)
    kernel = signature.name if signature.name in kernels or not kernels else kernels[0]
    sizes = [size.name for size in signature.sizes]
    if len(sizes) > 1:
        grid, block = f'["cdiv({sizes[1]}, 16)", "cdiv({sizes[0]}, 16)"]', "[16, 16]"
    else:
        grid, block = f'["cdiv({"".join(sizes) or 1}, 256)"]', "[256]"
    rows = ["/// launch", "[[launch]]", f'kernel = "{kernel}"', f"grid = {grid}", f"block = {block}", "///"]
    return "\n".join(f"      // {row}" for row in rows)


def _idea(head: list[str]) -> str:
    """The comment before the launch block, without its slashes, its lines joined to paragraphs."""
    text = [re.sub(r"^\s*//+ ?", "", line).rstrip() for line in head if line.strip().startswith("//")]
    paragraphs = re.split(r"\n\s*\n", "\n".join(text).strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _scratch(table: Table, signature: Signature) -> Scratch:
    table.allow("name", "dtype", "shape")
    name = table.get("name", str)
    if name in {item.name for item in signature.params}:
        raise table.error(f"`{name}` is a parameter of {signature}", "name", "give the array another name")
    dtype = table.get("dtype", str)
    if dtype not in _SCRATCH_DTYPES:
        meant = dtype_of(dtype)
        called = f": C++'s {dtype} is {meant} here" if meant in _SCRATCH_DTYPES else ""
        raise table.error(f"`{dtype}` is no dtype{called}", "dtype", f"one of {', '.join(_SCRATCH_DTYPES)}")
    return Scratch(name, np.dtype(dtype), table.expressions("shape"), table.line("shape"))


def _launch(table: Table, signature: Signature, scratch: list[str]) -> LaunchSpec:
    table.allow(*_LAUNCH_KEYS)
    _refuse_unsupported(table)
    parameters = tuple(item.name for item in signature.params)
    derived = [name for name, _ in signature.derived]
    args = tuple(_argument(table, text, [*parameters, *scratch], derived) for text in table.names("args"))
    kernel = table.get("kernel", str)
    if not _NAME_EXPRESSION.fullmatch(kernel):
        remedy = 'write it as the file declares it, in one line: kernel = "gemm" or "gemm<128>"'
        raise table.error(f"`{kernel}` is no name of a kernel", "kernel", remedy)
    writable = [*(item.name for item in signature.outputs), *scratch]
    zero = table.names("zero")
    _known(table, "zero", zero, writable)
    return LaunchSpec(
        kernel=kernel,
        args=args or parameters,
        grid=_dimensions(table, "grid"),
        block=_dimensions(table, "block"),
        shared=table.expression("shared", 0),
        when=table.expression("when") if "when" in table.values else None,
        zero=zero,
        constant=_constants(table, [*(item.name for item in signature.inputs), *scratch]),
        line=table.line(),
        lines={key: table.line(key) for key in table.values},
    )


def _argument(table: Table, text: str, known: Sequence[str], derived: Sequence[str]) -> Argument:
    """One of `args`: what is no name by itself is an expression, and so is a size that follows from others."""
    if text.isidentifier() and text not in derived:
        _known(table, "args", [text], [*known, *derived])
        return text
    try:
        return parse(text)
    except ExpressionError as error:
        raise table.error(f"`args`: {error}", "args") from None


def _constants(table: Table, arrays: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """`constant = { weights = "w" }`: the variables of the file and the arrays to copy into them."""
    given = table.get("constant", dict, {})
    named = [str(array) for array in given.values()]
    _known(table, "constant", named, arrays)
    return tuple(zip(map(str, given), named, strict=True))


def _refuse_unsupported(table: Table) -> None:
    if table.get("cooperative", bool, False):
        remedy = "remove it, and make two launches of what stands before and after the grid's barrier"
        raise table.error("cooperative launches are not run yet", "cooperative", remedy)
    if "cluster" in table.values and any(side.text != "1" for side in table.expressions("cluster")):
        raise table.error("thread-block clusters are not run yet", "cluster", "remove `cluster`")


def _known(table: Table, key: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            message = f"`{key}` names `{name}`{nearest(name, known)}"
            raise table.error(message, key, f"it can name {', '.join(known)}")


def _dimensions(table: Table, key: str) -> tuple[Expression, Expression, Expression]:
    given = table.expressions(key)
    if len(given) > 3:
        raise table.error(f"`{key}` has {len(given)} dimensions", key, "a grid or block has one to three")
    x, y, z = (*given, *[Expression("1")] * (3 - len(given)))
    return x, y, z
