"""Types of array elements: NumPy's, and bfloat16, which importing ml_dtypes adds to them by that name."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether elements are floating-point numbers. To NumPy, bfloat16 is of no kind that it knows."""
    return dtype.kind == "f" or dtype == BFLOAT16


def finfo(dtype: np.dtype[Any]) -> Any:
    """What np.finfo says of a floating-point type, such as its largest number, `max`; of bfloat16 as well."""
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
