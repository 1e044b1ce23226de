"""What a launch block says: its tables, read and refused where they are wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.workbook.expressions import Compared, Expression, ExpressionError, nearest, parse
from grader.workbook.launches.tensor_map import TensorMapSpec
from grader.workbook.signature import Signature, dtype_of
from grader.workbook.strict_toml import Table

SM_COUNT = "SMS"
"""What expressions call the device's number of streaming multiprocessors."""

LAUNCH_KEYS = (
    "kernel", "when", "args", "grid", "block", "shared", "zero", "constant", "cooperative", "cluster",
)  # fmt: skip
_NAME_EXPRESSION = re.compile(r"[A-Za-z_:][\w :<>,*&()+\-/%.'|^~!=?\[\]]{0,499}", re.ASCII)
"""What the compiler is asked to look up: nothing that could end the line, or begin another declaration."""
_SCRATCH_DTYPES = (
    *("float16", "bfloat16", "float32", "float64"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


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
    cluster: tuple[Expression, Expression, Expression]  # blocks of a thread-block cluster
    shared: Expression  # bytes of dynamic shared memory
    cooperative: bool  # all blocks are resident at a time, and may wait for one another
    when: Expression | None  # the launch takes place where this holds
    zero: tuple[str, ...]  # arrays set to zero before the launch, within the timed part
    constant: tuple[tuple[str, str], ...]  # __constant__ variables and the arrays copied into them, likewise
    line: int  # of the file, where the table begins
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)  # of its keys

    @property
    def clustered(self) -> bool:
        """Whether its blocks form clusters."""
        return any(side.text != "1" for side in self.cluster)

    def expressions(self) -> Iterator[Expression]:
        """All that have a value for each problem."""
        yield from (*self.grid, *self.block, *self.cluster, self.shared)
        yield from (item for item in self.args if isinstance(item, Expression))
        if self.when:
            yield self.when

    def compared(self) -> Iterator[tuple[str, Compared]]:
        """What is compared with what, each with the key under which it stands."""
        arguments = [item for item in self.args if isinstance(item, Expression)]
        keys = {
            "when": [self.when] if self.when else [],
            "grid": self.grid,
            "block": self.block,
            "args": arguments,
        }
        for key, expressions in {**keys, "cluster": self.cluster, "shared": [self.shared]}.items():
            yield from ((key, each) for expression in expressions for each in expression.comparisons)

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


def read_scratch(table: Table, signature: Signature) -> Scratch:
    """One `[[scratch]]`; raises WarpladderError."""
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


def read_launch(
    table: Table, signature: Signature, scratch: Sequence[str], maps: Sequence[TensorMapSpec]
) -> LaunchSpec:
    """One `[[launch]]`; raises WarpladderError."""
    table.allow(*LAUNCH_KEYS)
    parameters = tuple(item.name for item in signature.params)
    derived = [*(name for name, _ in signature.derived), SM_COUNT]
    passed = [*parameters, *scratch, *(item.name for item in maps)]
    args = tuple(_argument(table, text, passed, derived) for text in table.names("args"))
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
        cluster=_dimensions(table, "cluster", [1]),
        shared=table.expression("shared", 0),
        cooperative=table.get("cooperative", bool, False),
        when=table.expression("when") if "when" in table.values else None,
        zero=zero,
        constant=_constants(table, [*(item.name for item in signature.inputs), *scratch]),
        line=table.line(),
        lines={key: table.line(key) for key in table.values},
    )


def _argument(table: Table, text: str, known: Sequence[str], derived: Sequence[str]) -> Argument:
    """One of `args`: a name or an expression; SMS and sizes that follow from others are expressions."""
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


def _known(table: Table, key: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            message = f"`{key}` names `{name}`{nearest(name, known)}"
            raise table.error(message, key, f"it can name {', '.join(known)}")


def _dimensions(
    table: Table, key: str, default: list[str | int] | None = None
) -> tuple[Expression, Expression, Expression]:
    given = table.expressions(key, default)
    if len(given) > 3:
        raise table.error(f"`{key}` has {len(given)} dimensions", key, "one to three are x, y and z")
    x, y, z = (*given, *[Expression("1")] * (3 - len(given)))
    return x, y, z
