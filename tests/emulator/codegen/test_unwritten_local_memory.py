"""Elements of a local array that a thread has not written: what is read there, and used, is a finding."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

KERNEL = """struct Item {{ char kind; int count; }};
extern "C" __global__ void k(int* x, const int* place)
{{
    const int t = threadIdx.x;
    {}
}}"""

READ = {
    "written by none": ("int own[32]; own[place[t]] = t; x[t] = own[t];", True),
    "each its own": ("int own[32]; own[place[t]] = t; x[t] = own[place[t]];", False),
    "set at first": ("int own[32] = {}; own[place[t]] = t; x[t] = own[t];", False),
    "thrown away": ("int own[32]; own[place[t]] = t; int w = own[t]; if (place[t] == t) x[t] = w;", False),
    "by a pointer to anywhere": (
        "int own[32]; own[place[t]] = t; int* p = place[0] > 99 ? x : own; x[t] = p[t];",
        True,
    ),
    "written by a pointer to anywhere": (
        "int own[32]; int* p = place[0] > 99 ? x : own; p[t] = t; x[t] = own[t];",
        False,
    ),
    "with the gap between members": (
        "Item own[32]; own[place[t]].kind = 1; own[place[t]].count = t; ((Item*)x)[t] = own[place[t]];",
        False,
    ),
}
"""What a thread does with an array of its own → whether an element is used that it has not written."""


@pytest.mark.parametrize("name", READ)
def test_a_local_array_holds_nothing_at_the_start(bench: Bench, name: str) -> None:
    body, found = READ[name]
    places = np.arange(32, dtype=np.int32)[::-1].copy()
    ran = bench.cuda(KERNEL.format(body), "k", 3, 32, np.zeros(64, np.int32), places)
    assert set(ran.findings) - {"race"} == ({"uninitialised"} if found else set())
