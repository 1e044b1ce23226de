"""What atomic functions are called for that is each thread's own."""

from __future__ import annotations

import pytest

from grader.workbook.cuda_edits import edits
from grader.workbook.own_memory import with_atomics, with_unknown_index

ADD = "__device__ void add(unsigned* to, int at)\n{\n    atomicAdd(to + at, 1u);\n}\n"
KERNEL = "__global__ void f(unsigned* bins, int N)\n{\n"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("unsigned counts[256];\natomicAdd(&counts[x], 1u);", ("counts", 3, "atomicAdd", 4)),
        ("unsigned long long a, b[4][8];\natomicMax(&b[x][y], 1ull);", ("b", 3, "atomicMax", 4)),
        ("unsigned counts[256] = {};\natomicAdd(counts + x, 1u);", ("counts", 3, "atomicAdd", 4)),
        ("unsigned int count = 0;\nif (x) atomicInc(&count, 9u);", ("count", 3, "atomicInc", 4)),
        ("__shared__ unsigned counts[256];\natomicAdd(&counts[x], 1u);", None),
        ("extern __shared__ unsigned counts[];\natomicAdd(counts + x, 1u);", None),
        (
            "unsigned* counts = bins + 4, &first = bins[0];\natomicAdd(counts + x, 1u), atomicAdd(&first, 1u);",
            None,
        ),
        ("unsigned counts[256];\natomicAdd(&bins[x], counts[x]);", None),
    ],
)
def test_an_atomic_function_for_a_threads_own_is_found(
    body: str, found: tuple[str, int, str, int] | None
) -> None:
    told = [
        (each.name, each.declared, each.function, each.line) for each in with_atomics(f"{KERNEL}{body}\n}}\n")
    ]
    assert told == ([found] if found else [])


@pytest.mark.parametrize(
    ("given", "line"), [("counts", 8), ("&counts[4]", 8), ("bins", None), ("bins + counts[4]", None)]
)
def test_so_is_one_that_is_called_by_another_function(given: str, line: int | None) -> None:
    source = f"{ADD}{KERNEL}unsigned counts[256];\nadd({given}, x);\n}}\n"
    assert [each.line for each in with_atomics(source)] == ([line] if line else [])


@pytest.mark.parametrize(
    ("declared", "why"),
    [("unsigned counts[256];", "an array"), ("unsigned count;", "a variable"), ("unsigned count = 0;", None)],
)
def test_what_is_to_be_the_blocks_is_tried_in_shared_memory(declared: str, why: str | None) -> None:
    name = "counts[x]" if "[" in declared else "count"
    source = f"{KERNEL}    {declared}\n    __syncthreads();\n    atomicAdd(&{name}, 1u);\n}}\n"
    made = [edit for edit in edits(source) if edit.said.startswith("`__shared__`")]
    assert [edit.why for edit in made] == ([f"Without it each thread has {why} of its own."] if why else [])
    assert all(f"    __shared__ {declared}" in edit.applied(source) for edit in made)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("float a[4];\nfor (int j = 0; i + j < N; ++j)\n    out[i + j] = a[j];", {"a": (5, "j")}),
        ("float a[4];\nfor (int j = 0; j < 4; ++j)\n    if (i + j < N) out[i + j] = a[j];", {}),
        (
            "float a[2][W];\nfor (int j = 0; j < W; j += 2)\n    for (int k = 0; k < j; ++k) a[1][j + k] = 0;",
            {},
        ),
        ("float a[4], b[4];\na[0] = b[threadIdx.x % 4];", {"b": (4, "threadIdx")}),
        ("int a[4];\nconst int k = W / 2;\nint n = N;\nout[n] = a[k];", {}),
        ("__shared__ float a[4];\nout[i] = a[i];", {}),
    ],
)
def test_an_array_whose_index_is_unknown_to_the_compiler_is_found(
    body: str, found: dict[str, tuple[int, str]]
) -> None:
    assert with_unknown_index(f"constexpr int W = 8;\n{KERNEL.strip()}{body}\n}}\n", 3) == found
