"""The launches of a kernel file for one problem, with their numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.errors import WarpladderError
from grader.workbook import units
from grader.workbook.expressions import Expression, ExpressionError
from grader.workbook.kernel_file import KernelFile
from grader.workbook.launches import tensor_map
from grader.workbook.launches.spec import SM_COUNT, Argument, LaunchSpec
from grader.workbook.launches.tensor_map import TensorMap
from grader.workbook.reference import Problem

_LARGEST_INT = 2**31 - 1


@dataclass(frozen=True)
class PlannedLaunch:
    """One launch with its numbers."""

    kernel: str
    args: tuple[str | int | TensorMap, ...]  # an array or a size by name, a number, or a tensor map
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    shared_bytes: int
    cooperative: bool
    zero: tuple[str, ...]
    constant: tuple[tuple[str, str], ...]
    spec: LaunchSpec  # that it was made of

    @property
    def arrays(self) -> set[str]:
        """The arrays, and sizes, that it is given."""
        named = {item.array if isinstance(item, TensorMap) else item for item in self.args}
        return {name for name in (*named, *self.zero) if isinstance(name, str)}


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


def plan(file: KernelFile, problem: Problem, constants: Mapping[str, int], sms: int) -> LaunchPlan:
    """The launches of `file` for one problem on a device with `sms` multiprocessors.

    `constants` has a value for each of `file.constant_names`. Scratch arrays that no launch of this problem
    takes are left out. Raises WarpladderError where an expression has no value, a grid or block is not
    positive, a tensor map is not possible, or no launch applies.
    """
    numbers = _Numbers(file, problem, constants, sms)
    launches = tuple(numbers.launch(launch) for launch in file.launches if numbers.applies(launch))
    if not launches:
        raise WarpladderError(
            f"no launch applies where {numbers.at}: every `when` is false",
            file=file.path,
            line=file.launches[0].line_of("when"),
            remedy="add a launch without `when`, or one for the remaining sizes",
        )
    used = {name for launch in launches for name in launch.arrays}
    scratch = tuple(
        ScratchArray(item.name, item.dtype, numbers.sides(item.shape, f"shape of {item.name}", item.line))
        for item in file.scratch
        if item.name in used
    )
    return LaunchPlan(launches, scratch)


class _Numbers:
    """What the expressions of a file come to for one problem."""

    def __init__(self, file: KernelFile, problem: Problem, constants: Mapping[str, int], sms: int) -> None:
        self.file = file
        self.values = {**constants, **file.signature.with_derived(problem), SM_COUNT: sms}
        self.at = units.case(problem)

    def applies(self, launch: LaunchSpec) -> bool:
        """Whether a launch takes place."""
        try:
            return launch.when is None or bool(launch.when.evaluate(self.values))
        except ExpressionError as error:
            line = launch.line_of("when")
            raise WarpladderError(f"when: {error}", file=self.file.path, line=line) from None

    def launch(self, launch: LaunchSpec) -> PlannedLaunch:
        """A launch that takes place."""
        return PlannedLaunch(
            kernel=launch.kernel,
            args=tuple(self._argument(item, launch.line_of("args")) for item in launch.args),
            grid=self._three(launch, "grid"),
            block=self._three(launch, "block"),
            cluster=self._three(launch, "cluster"),
            shared_bytes=self._whole(launch.shared, "shared", launch.line_of("shared"), 0),
            cooperative=launch.cooperative,
            zero=launch.zero,
            constant=launch.constant,
            spec=launch,
        )

    def sides(self, expressions: Sequence[Expression], what: str, line: int) -> tuple[int, ...]:
        """Numbers that are at least 1."""
        return tuple(self._whole(item, what, line, 1) for item in expressions)

    def _argument(self, item: Argument, line: int) -> str | int | TensorMap:
        if isinstance(item, str):
            named = next((spec for spec in self.file.tensor_maps if spec.name == item), None)
            return item if named is None else self._tensor_map(named)
        value = self._evaluated(item, "an argument", line)
        if not -_LARGEST_INT - 1 <= value <= _LARGEST_INT:
            message = f"the argument `{item.text}` is {value} where {self.at}, which an int does not hold"
            raise WarpladderError(message, file=self.file.path, line=line)
        return value

    def _tensor_map(self, spec: tensor_map.TensorMapSpec) -> TensorMap:
        shape, strides, box = (
            self.sides(getattr(spec, key), f"{key} of {spec.name}", spec.line_of(key))
            for key in ("shape", "strides", "box")
        )
        found = tensor_map.dense(spec, self.file.dtype(spec.array), shape, strides, box)
        if (refused := found.refused()) is not None:
            raise WarpladderError(
                f"the tensor map {spec.name} has {refused.what} where {self.at}",
                file=self.file.path,
                line=spec.line_of(refused.key),
                remedy=refused.remedy,
            )
        return found

    def _three(self, launch: LaunchSpec, key: str) -> tuple[int, int, int]:
        line = launch.line_of(key)
        x, y, z = (
            self._whole(item, f"{key}[{axis}]", line, 1) for axis, item in enumerate(getattr(launch, key))
        )
        return x, y, z

    def _whole(self, expression: Expression, what: str, line: int, smallest: int) -> int:
        value = self._evaluated(expression, what, line)
        if value < smallest:
            raise WarpladderError(
                f"{what} = `{expression.text}` is {value} where {self.at}",
                file=self.file.path,
                line=line,
                remedy=f"it has to be at least {smallest} for every problem: {_rounded_up(expression.text)}",
            )
        return value

    def _evaluated(self, expression: Expression, what: str, line: int) -> int:
        try:
            return expression.whole(self.values)
        except ExpressionError as error:
            raise WarpladderError(f"{what}: {error}", file=self.file.path, line=line) from None


def _rounded_up(text: str) -> str:
    """How a side of a launch is rounded up, so that what is left over is done as well."""
    down = re.fullmatch(r"(\w+)\s*//\s*(\w+)", text)
    if down is None:
        return "cdiv(a, b) rounds up, `//` down"
    return f"cdiv({down[1]}, {down[2]}) rounds up, where `//` leaves the last, partly filled block out"
