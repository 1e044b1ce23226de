"""From the findings in launch records to those that results show, with the elements that they are about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from grader.emulator.machine.records import Finding
from grader.findings import kernels
from grader.judge.child.protocol import Record
from grader.results import FindingResult


@dataclass(frozen=True)
class ArrayType:
    """What an array holds."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array."""
        return math.prod(self.shape) * self.dtype.itemsize


def located(records: Sequence[Record], arrays: Mapping[str, ArrayType]) -> tuple[Record, ...]:
    """Records whose findings name elements, where they are about one of these arrays."""
    return tuple(
        msgspec.structs.replace(record, findings=tuple(_located(item, arrays) for item in record.findings))
        for record in records
    )


def _located(finding: Finding, arrays: Mapping[str, ArrayType]) -> Finding:
    array, allocation = arrays.get(finding.array or ""), finding.allocation
    # A variable of the kernel's file may have the name of an array that it is not.
    if array is None or allocation is None or finding.address is None or allocation.nbytes != array.nbytes:
        return finding
    element = (finding.address - allocation.base) // array.dtype.itemsize
    return replace(finding, element=element, shape=array.shape)


def results(records: Sequence[Record]) -> list[FindingResult]:
    """All findings of some launches, in the order of the launches."""
    return [kernels.result(item, record.kernel) for record in records for item in record.findings]
