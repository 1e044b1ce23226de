"""What is read from a program's text and its PTX: names of arrays, results that nobody looks at, files and lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.emulator.cudart.lines import _without_parameters
from grader.emulator.cudart.source import Source
from grader.emulator.cudart.toolchain import program_first
from grader.emulator.places import Place


def source_of(folder: Path, line: str) -> tuple[Source, Place]:
    (folder / "prog.cu").write_text(f"float *d_a, *d_b;\n{line}\n")
    return Source(folder), Place("prog.cu", 2)


@pytest.mark.parametrize(
    ("line", "dropped"),
    [
        ("  cudaMalloc(&d_a, 4);", True),
        ("  ::cudaMalloc(&d_a, 4);", True),
        ("  (void)cudaMalloc(&d_a, 4);", True),
        ("  if (ready) cudaFree(d_a);", True),
        ("  first(); cudaFree(d_a);", True),
        ("  cudaError_t status = cudaMalloc(&d_a, 4);", False),
        ("  status = cudaMalloc<float>(&d_a, 4);", False),
        ("  CHECK(cudaMalloc(&d_a, 4));", False),
        ("  return cudaFree(d_a);", False),
        ("  if (cudaFree(d_a) != cudaSuccess)", False),
        ("  SAFE_FREE(d_a);", False),
    ],
)
def test_a_statement_of_its_own_drops_the_result(tmp_path: Path, line: str, dropped: bool) -> None:
    source, place = source_of(tmp_path, line)
    assert source.drops_result(place) is dropped


@pytest.mark.parametrize(
    ("line", "array"),
    [
        ("cudaMalloc(&d_a, n);", "d_a"),
        ("CHECK(cudaMalloc((void **)&d_b, n));", "d_b"),
        ("cudaMallocManaged<float>(&this->d_a, n);", "this->d_a"),
        ("cudaHostAlloc((void**) &h[1], n, 0);", "h[1]"),
        ("cudaMalloc(pointer, n);", None),
        ("cudaMalloc(&d_a, n); cudaMalloc(&d_b, n);", None),
    ],
)
def test_an_allocation_has_the_name_of_its_pointer(tmp_path: Path, line: str, array: str | None) -> None:
    source, place = source_of(tmp_path, line)
    assert source.array(place) == array


def test_a_pointers_declaration_tells_the_size_of_an_element(tmp_path: Path) -> None:
    source, place = source_of(tmp_path, "double *wide; Thing *other;")
    assert [source.element_bytes(name, place) for name in ("d_b", "wide", "other")] == [4, 8, None]


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("add(float*, int)", "add"),
        ("scale<int, 4>(int*)", "scale<int, 4>"),
        ("apply<void (*)(int)>(int)", "apply<void (*)(int)>"),
        ("plain", "plain"),
    ],
)
def test_a_kernels_name_has_no_parameters(name: str, short: str) -> None:
    assert _without_parameters(name) == short


def test_the_programs_own_file_becomes_the_first_and_those_beside_it_are_named_from_there() -> None:
    ptx = (
        ".loc\t2 5 1, function_name $x, inlined_at 1 9 0\n"
        '.file\t1 "/cuda/bin/..//include/header.h", 12, 34\n.file\t2 "/home/prog.cu", 12, 34\n'
        '.file\t3 "/home/detail/../tile.cuh", 12, 34\n'
    )
    assert program_first(ptx, Path("/home/prog.cu")).splitlines() == [
        ".loc\t1 5 1, function_name $x, inlined_at 2 9 0",
        '.file 2 "/cuda/include/header.h"',
        '.file 1 "prog.cu"',
        '.file 3 "tile.cuh"',
    ]
