"""A topic's kernel signature, as topic.toml writes it: `scale(const float* in, float* out, int N)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from grader.workbook.elements import finfo, is_float
from grader.workbook.expressions import Expression, ExpressionError, Number
from grader.workbook.strict_toml import Table

_DTYPES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "__half": "float16",
    **dict.fromkeys(("bfloat16", "nv_bfloat16", "__nv_bfloat16"), "bfloat16"),
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "long long": "int64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


Kind = Literal["input", "output", "size", "value"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of the kernel."""

    name: str
    ctype: str  # as written: "const float*", "int"
    kind: Kind  # const pointer, pointer, integer and float by value
    dtype: np.dtype[np.generic]  # of the elements pointed to, or of the value itself

    @property
    def nbytes(self) -> int:
        """Bytes the argument takes in the kernel's parameter list."""
        return self.dtype.itemsize if self.by_value else 8

    @property
    def by_value(self) -> bool:
        """Whether the problem says what it is, and not an array."""
        return self.kind in ("size", "value")

    def refuses(self, value: object, least: int = 1) -> str | None:
        """Why a problem cannot give this parameter that value; None: it can."""
        if self.kind == "value":
            return self._refuses_float(value)
        if type(value) is not int:
            return f"{self.name}={value}: sizes are integers"
        return f"{self.name}={value}: sizes start at {least}" if value < least else None

    def _refuses_float(self, value: object) -> str | None:
        """A float has to be positive and finite as the kernel gets it: where answers are NaN or infinite, any kernel
        would be right."""
        if not isinstance(value, (int, float)) or isinstance(value, bool) or value != value:
            return f"{self.name}={value} is no number"
        if value <= 0:
            return f"{self.name}={value}: {self.name} has to be positive"
        of_type = finfo(self.dtype)
        if value > float(of_type.max):  # as Python's numbers, which do not overflow
            return f"{self.name}={value} is infinite as a {self.ctype}"
        too_small = value < float(of_type.smallest_subnormal)
        return f"{self.name}={value} is 0 as a {self.ctype}" if too_small else None


@dataclass(frozen=True)
class Signature:
    """What every kernel of a topic takes, in order."""

    name: str
    params: tuple[Parameter, ...]
    derived: tuple[tuple[str, Expression], ...] = ()  # sizes that follow from the others, by name

    def with_derived(self, problem: Mapping[str, Number]) -> dict[str, Number]:
        """The problem and the sizes that follow from it. Raises ExpressionError where one has no value."""
        return {**problem, **{name: expression.whole(problem) for name, expression in self.derived}}

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        """The arrays read."""
        return tuple(item for item in self.params if item.kind == "input")

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        """The arrays written."""
        return tuple(item for item in self.params if item.kind == "output")

    @property
    def sizes(self) -> tuple[Parameter, ...]:
        """The integers by value: the problem's sizes."""
        return tuple(item for item in self.params if item.kind == "size")

    @property
    def values(self) -> tuple[Parameter, ...]:
        """The floats by value, such as an epsilon: they belong to the problem, as sizes do."""
        return tuple(item for item in self.params if item.kind == "value")

    @property
    def by_value(self) -> tuple[Parameter, ...]:
        """Sizes and values: what a problem consists of."""
        return tuple(item for item in self.params if item.by_value)

    def __getitem__(self, name: str) -> Parameter:
        """The parameter called `name`; raises KeyError."""
        for item in self.params:
            if item.name == name:
                return item
        raise KeyError(name)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{item.ctype} {item.name}' for item in self.params)})"


def dtype_of(ctype: str) -> str | None:
    """NumPy's name of a C++ type; None where it has none."""
    return _DTYPES.get(ctype)


def parse_signature(text: str) -> Signature:
    """Read a signature; raises ValueError, whose text says what to write."""
    whole = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", text, re.S)
    if not whole:
        raise ValueError(f"`{text}` is not a signature: write name(const float* in, float* out, int N)")
    params = tuple(_parameter(part) for part in whole[2].split(","))
    names = [item.name for item in params]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two parameters are called `{name}`")
    signature = Signature(whole[1], params)
    if not signature.outputs:
        raise ValueError("no parameter is an output: one has to be a pointer without `const`")
    return signature


def _parameter(text: str) -> Parameter:
    words = re.fullmatch(r"\s*(const\s+)?([\w ]+?)\s*(\*)?\s*(?:__restrict__\s+)?(\w+)\s*", text)
    if not words or words[2] not in _DTYPES:
        raise ValueError(
            f"`{text.strip()}` is not a parameter: write `const T* in`, `T* out` or `int N`, "
            f"with T one of {', '.join(_DTYPES)}"
        )
    const, base, pointer, name = words.groups()
    dtype = np.dtype(_DTYPES[base])
    if not pointer and is_float(dtype) and dtype.itemsize < 4:
        raise ValueError(f"`{text.strip()}`: parameters by value are integers, float or double")
    return Parameter(
        name, f"{'const ' if const else ''}{base}{pointer or ''}", _kind(const, pointer, dtype), dtype
    )


def _kind(const: str | None, pointer: str | None, dtype: np.dtype[np.generic]) -> Kind:
    if pointer:
        return "input" if const else "output"
    return "size" if dtype.kind in "iu" else "value"


def impossible(problem: Mapping[str, Number], signature: Signature) -> str | None:
    """What is wrong where a size that follows from the others is below 1; None: nothing."""
    try:
        values = signature.with_derived(problem)
    except ExpressionError as error:
        return str(error)
    for name, expression in signature.derived:
        if values[name] < 1:
            return f"{name} = {expression.text} is {values[name]}: these sizes make no problem"
    return None


def read_signature(table: Table) -> Signature:
    """What stands under `signature`."""
    try:
        return parse_signature(table.get("signature", str))
    except ValueError as error:
        raise table.error(str(error), "signature") from None


def read_problem(
    table: Table, key: str, given: object, signature: Signature, usual: Mapping[str, Number] | None = None
) -> dict[str, Number]:
    """A problem that stands under `key`; what it does not say is `usual`."""
    names = [item.name for item in signature.by_value]
    examples = (f"{item.name} = {32 if item.kind == 'size' else 0.5}" for item in signature.by_value)
    remedy = f"write {{ {', '.join(examples)} }}"
    if not isinstance(given, dict) or {*given, *(usual or {})} != set(names):
        raise table.error(f"`{key}`: {given!r} does not give {', '.join(names)}", key, remedy)
    problem = {name: {**(usual or {}), **given}[name] for name in names}
    for item in signature.by_value:
        least = 0 if item.name in table.names("from_zero") else 1
        if complaint := item.refuses(problem[item.name], least):
            raise table.error(f"`{key}`: {given!r}: {complaint}", key, remedy)
    if complaint := impossible(problem, signature):
        raise table.error(f"`{key}`: {given!r}: {complaint}", key)
    return problem
