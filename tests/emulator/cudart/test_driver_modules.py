"""Programs of the driver's API, which load their kernels as modules."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.emulator.cudart.calls.modules import _ptx
from grader.emulator.cudart.process import CompiledProgram, compiled
from grader.emulator.cudart.status import NotEmulated

PROGRAM = Path(__file__).parent / "driver_modules.cpp"
PRINTS = [
    "NVIDIA ", "17 17", "317, of 4 bytes", "blocks of 256", "CUDA_ERROR_NOT_FOUND", "CUDA_ERROR_NOT_FOUND",
    "CUDA_ERROR_FILE_NOT_FOUND", "CUDA_ERROR_INVALID_IMAGE", "CUDA_ERROR_INVALID_DEVICE", "CUDA_ERROR_OUT_OF_MEMORY",
    "CUDA_ERROR_INVALID_HANDLE",
]  # fmt: skip


@pytest.fixture(scope="module")
def program() -> Iterator[CompiledProgram]:
    with compiled(PROGRAM, "sm_90a") as program:
        yield program


def test_modules_run_right(program: CompiledProgram, capfd: pytest.CaptureFixture[str]) -> None:
    outcome = program.run([])
    assert capfd.readouterr().out.splitlines() == PRINTS
    assert (outcome.faults, outcome.exit_code, len(outcome.launches)) == (0, 0, 2)


def test_bugs_are_found_with_the_names_of_the_driver(program: CompiledProgram) -> None:
    lines = enumerate(PROGRAM.read_text().splitlines(), 1)
    marked = {
        text.rpartition("// ")[2]: number for number, text in lines if text.endswith(("// LEAK", "// SIZE"))
    }
    outcome = program.run(["bugs"])
    found = {(each.kind, each.call, each.array, each.place and each.place.line) for each in outcome.findings}
    assert found == {
        ("leak", "cuMemAlloc", "d_x", marked["LEAK"]), ("copy_size", "cuMemsetD8", "d_x", marked["SIZE"]),
    }  # fmt: skip
    ((record, _),) = outcome.launches
    assert [(each.kind, each.array, str(each.place)) for each in record.findings] == [
        ("out_of_bounds", "d_x", "/elsewhere/kernel.cu:3"),
    ]


def fatbin(*entries: tuple[int, int, bytes]) -> bytes:
    """Of (kind, flags, content) each."""
    parts = [
        struct.pack("<HHIQ24xQ16x", kind, 0x101, 64, len(content), flags) + content
        for kind, flags, content in entries
    ]
    body = b"".join(parts)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def test_of_an_image_the_ptx_is_taken() -> None:
    assert _ptx(b".version 8.0") == ".version 8.0"
    assert _ptx(fatbin((2, 0x11, b"ELF"), (1, 0x11, b".version 9.0\0"))) == ".version 9.0\0"
    for image, said in (
        (fatbin((1, 0x8011, b"(\xb5/\xfd")), "compressed"),
        (fatbin((2, 0x11, b"ELF")), "without PTX"),
        (b"\x7fELF", "machine code"),
    ):
        with pytest.raises(NotEmulated, match=said):
            _ptx(image)
