"""What a topic's reference.py defines, and how far from it a kernel may be."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from grader.errors import WarpladderError
from grader.workbook.expressions import Expression, Number

Problem = Mapping[str, Number]
"""What a kernel is given by value, by name: sizes are int."""

Arrays = dict[str, NDArray[np.generic]]
Inputs = Mapping[str, NDArray[np.generic]]
Bounds = Iterable[tuple[str, float, dict[str, NDArray[np.float64]]]]
"""Of each algorithm its name, and terms and magnitude of its error bound, see Tolerance."""

Read = Callable[[str, NDArray[np.int64]], NDArray[np.float64]]
"""Gives elements of an input, by parameter name and places that count from its start."""

_FUNCTIONS = ("make_inputs", "reference", "magnitude", "min_flop", "min_bytes")


class Reference(Protocol):
    """What a topic's reference.py defines."""

    def make_inputs(
        self, problem: Problem, rng: np.random.Generator, kind: Literal["exact", "real"]
    ) -> Arrays:
        """Inputs by parameter name, in the parameter's dtype. "exact": small integers, all sums exact."""

    def reference(self, inputs: Inputs, problem: Problem) -> dict[str, NDArray[np.float64]]:
        """Outputs by parameter name, in float64 and the output's shape."""

    def magnitude(self, inputs: Inputs, problem: Problem) -> dict[str, NDArray[np.float64]]:
        """Σ|a·b| for each output element, in float64: what rounding errors are relative to."""

    def min_flop(self, problem: Problem) -> int:
        """Floating-point operations that no algorithm can do without."""

    def min_bytes(self, problem: Problem) -> int:
        """Bytes that have to cross DRAM whatever the algorithm."""


class _Accurate(Protocol):
    """What reference.py defines as well where topic.toml names a yardstick of accuracy."""

    def yardstick(self, inputs: Inputs, problem: Problem) -> Arrays:
        """Outputs as a careful method computes them in the precision that kernels have."""


class _ReadsMore(Protocol):
    """What reference.py defines as well where fewer bytes are written than read."""

    def written_bytes(self, problem: Problem) -> int:
        """How many of min_bytes are written."""


class _Transforms(Protocol):
    """What reference.py defines as well where algorithms that compute with transforms of the inputs are honest."""

    def transformed_bounds(self, inputs: Inputs, problem: Problem) -> Bounds:
        """Of each such algorithm its name, and terms and magnitude of its error bound, see Tolerance."""


class Sampled(Protocol):
    """What reference.py defines as well where sizes are looked at that are too large for whole arrays."""

    def shapes(self, problem: Problem) -> dict[str, tuple[int, ...]]:
        """The shapes of all inputs and outputs, by parameter name."""

    def elements(
        self, read: Read, problem: Problem, name: str, places: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Elements of an output and their magnitudes, at places that count from its start."""


class _WithTables(Protocol):
    """What reference.py defines as well where some inputs say where others lie, or how much of them counts."""

    def tables(self, problem: Problem, rng: np.random.Generator, even: bool = False) -> Arrays:
        """These inputs by name, as make_inputs has them. Their elements belong together: they are never drawn, or
        changed, one by one. `even`: they give all blocks about as much to do, for sizes at which a few stand for all.
        """


class _Special(Protocol):
    """What reference.py defines as well where it matters what becomes of NaN, infinities, −0 and subnormals."""

    def special_inputs(self, problem: Problem, rng: np.random.Generator) -> Arrays:
        """Inputs as make_inputs has them, with such values among them: few, so that most outputs stay finite."""


class _Explains(Protocol):
    """What reference.py defines as well where a wrong output shows which mistake is behind it."""

    def mistake(self, inputs: Inputs, outputs: Arrays, problem: Problem) -> str | None:
        """The mistake in a sentence or two, and what mends it; None where the outputs do not show it for certain."""


class _OnCpu(Protocol):
    """What reference.py defines as well where the CPU is worth comparing with."""

    def on_cpu(self, inputs: Inputs, problem: Problem) -> Arrays:
        """Outputs as NumPy computes them, in the precision that kernels have."""


@dataclass(frozen=True)
class Tolerance:
    """|error| <= lambda_ · √terms · u(unit) · magnitude; lambda_ = 0 asks for equality. Mappings are by output."""

    lambda_: float
    terms: Mapping[str, Expression]  # of the problem's sizes: how many roundings follow each other
    unit: Mapping[str, str]  # the type whose rounding counts, such as "float32"
    exact: Mapping[
        str, float
    ]  # in exact cases |error| <= exact · u(unit) · |right result|; 0: equality there
    yardstick: str | None  # the careful method that reference.yardstick() is, such as "pairwise summation"


def load_reference(path: Path, topic: str, yardstick: bool) -> Reference:
    """The module at `path`; with `yardstick`, that function has to be there as well. Raises WarpladderError."""
    return cast(Reference, load_module(path, topic, (*_FUNCTIONS, *(["yardstick"] if yardstick else []))))


def load_module(path: Path, name: str, functions: Iterable[str]) -> object:
    """The reference.py of what is called `name`, which has to define these functions. Raises WarpladderError."""
    spec = importlib.util.spec_from_file_location(f"reference_of_{name}", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise WarpladderError(f"{name} has no reference.py", file=path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise WarpladderError(f"it does not load: {type(error).__name__}: {error}", file=path) from error
    for function in functions:
        if not callable(getattr(module, function, None)):
            raise WarpladderError(f"`{function}` is missing", file=path, remedy=f"define {function}(…)")
    return module


def yardstick(reference: Reference, inputs: Inputs, problem: Problem) -> Arrays:
    """Outputs as the topic's yardstick of accuracy computes them."""
    return cast(_Accurate, reference).yardstick(inputs, problem)


def on_cpu(reference: Reference) -> Callable[[Inputs, Problem], Arrays] | None:
    """NumPy's way of doing the job on the CPU; None where reference.py has none."""
    return cast(_OnCpu, reference).on_cpu if hasattr(reference, "on_cpu") else None


def tables(reference: Reference, problem: Problem, rng: np.random.Generator, even: bool) -> Arrays:
    """The inputs whose elements belong together; none where reference.py does not define any."""
    return cast(_WithTables, reference).tables(problem, rng, even) if hasattr(reference, "tables") else {}


def special_inputs(reference: Reference) -> Callable[[Problem, np.random.Generator], Arrays] | None:
    """What makes inputs with special values; None where reference.py has none."""
    return cast(_Special, reference).special_inputs if hasattr(reference, "special_inputs") else None


def mistake(reference: Reference, inputs: Inputs, outputs: Arrays, problem: Problem) -> str | None:
    """What is behind wrong outputs, in words; None where reference.py does not know, or fails on them: what a kernel
    leaves may be anything, and it is wrong with or without an explanation."""
    if not hasattr(reference, "mistake"):
        return None
    try:
        with np.errstate(all="ignore"):
            return cast(_Explains, reference).mistake(inputs, outputs, problem)
    except Exception:
        return None


def written_bytes(reference: Reference, problem: Problem) -> int:
    """How many of the bytes that have to cross DRAM are written: half, if reference.py does not say."""
    if hasattr(reference, "written_bytes"):
        return cast(_ReadsMore, reference).written_bytes(problem)
    return reference.min_bytes(problem) // 2


def transformed_bounds(reference: Reference, inputs: Inputs, problem: Problem) -> Bounds:
    """Error bounds beside the tolerance's own; none where reference.py does not define any."""
    if not hasattr(reference, "transformed_bounds"):
        return ()
    return cast(_Transforms, reference).transformed_bounds(inputs, problem)


def sampled(reference: Reference) -> Sampled | None:
    """What looks at single elements; None where reference.py does not define it."""
    return cast(Sampled, reference) if hasattr(reference, "elements") else None
