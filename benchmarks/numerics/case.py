"""What is run on a GPU and on the emulator alike: a kernel, its arguments, and how near its results have to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Map:
    """An argument: a tensor map of an array of the case."""

    array: str
    data_type: str
    dims: Sequence[int]
    strides: Sequence[int]
    box: Sequence[int]
    options: Mapping[str, Any] = field(default_factory=dict)


Argument = str | np.generic | Map
"""An array of the case by name, a number, or a tensor map."""


@dataclass(frozen=True)
class Case:
    """One launch with one block; `kernel` is declared extern "C" in `source`, which may be that of other cases too."""

    name: str
    kernel: str
    source: str
    arguments: tuple[Argument, ...]
    arrays: Mapping[str, Array]
    threads: int = 32
    result: str = "out"
    """Which array is compared; its dtype says how a difference is measured."""
    share: float | None = None
    """None: results are equal bit for bit. Else how far they may lie apart, as a share of the sum of the terms' sizes,
    which the same launch gives with the arrays `sizes` instead."""
    sizes: Mapping[str, Array] | None = None
    probed: bool = False
    """Whether its counters are compared too (nsight.py)."""


@dataclass(frozen=True)
class Group:
    """Cases whose sources are compiled behind the same text."""

    name: str
    prelude: str
    cases: tuple[Case, ...]
    a_module: int = 12
    """How many kernels are compiled together."""

    def modules(self) -> list[tuple[str, list[Case]]]:
        """Sources to compile, and the cases that each serves."""
        sources = list(dict.fromkeys(case.source for case in self.cases))
        chunks = [sources[i : i + self.a_module] for i in range(0, len(sources), self.a_module)]
        return [
            ("\n".join([self.prelude, *chunk]), [case for case in self.cases if case.source in set(chunk)])
            for chunk in chunks
        ]
