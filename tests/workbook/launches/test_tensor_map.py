"""Tensor maps in a launch block: read, refused where they are wrong, and planned for a problem."""

from pathlib import Path

import numpy as np
import pytest

from grader.errors import WarpladderError
from grader.workbook.kernel_file import KernelFile, parse_source
from grader.workbook.launches.plan import LaunchPlan, plan
from grader.workbook.launches.tensor_map import TensorMap
from grader.workbook.signature import parse_signature

HGEMM = parse_signature("hgemm(const half* A, const half* B, float* C, int M, int N, int K)")
MAP = [
    "[[tensor_map]]",
    'name = "A_tiles"',
    'array = "A"',
    'shape = ["M", "K"]',
    'box = ["BM", 64]',
    "swizzle = 128",
]
LAUNCH = [
    "[[launch]]",
    'kernel = "hgemm"',
    'args = ["A_tiles", "B", "C", "M"]',
    'grid = ["cdiv(M, BM)"]',
    "block = [128]",
]
SCRATCH = ["[[scratch]]", 'name = "padded"', 'dtype = "int8"', 'shape = ["M", "cdiv(K, 16) * 16"]']


def read(*lines: str) -> KernelFile:
    """A file whose launch block has these lines, which start at line 2."""
    text = "".join(f"// {line}\n" for line in ("/// launch", *lines, "///"))
    return parse_source(text, HGEMM, Path("mine.cu"))


def changed(**keys: str) -> list[str]:
    """The map with other values, or further keys."""
    left = dict(keys)
    lines = [f"{key} = {left.pop(key)}" if (key := line.partition(" ")[0]) in keys else line for line in MAP]
    return lines + [f"{key} = {value}" for key, value in left.items()]


def planned(file: KernelFile, K: int = 512, BM: int = 128) -> LaunchPlan:
    return plan(file, {"M": 256, "N": 128, "K": K}, {"BM": BM}, sms=132)


def test_a_map_is_passed_by_name_with_its_numbers() -> None:
    file = read(*MAP, *LAUNCH)
    assert file.extended
    assert file.constant_names == ("BM",)
    (launch,) = planned(file).launches
    assert launch.args == (
        TensorMap("A", np.dtype("float16"), (256, 512), (512,), (128, 64), 128, "zero"),
        "B",
        "C",
        "M",
    )


def test_strides_are_those_that_are_given() -> None:
    given = changed(shape='["K", "M"]', strides="[1024]", box="[8, 64]", fill='"nan"')
    (launch,) = planned(read(*given, *LAUNCH)).launches
    assert launch.args[0] == TensorMap("A", np.dtype("float16"), (512, 256), (1024,), (8, 64), 128, "nan")


def test_a_scratch_array_that_only_a_map_has_is_allocated() -> None:
    lines = changed(array='"padded"', shape='["M", "cdiv(K, 16) * 16"]')
    (item,) = planned(read(*SCRATCH, *lines, *LAUNCH), K=33).scratch
    assert (item.name, item.shape) == ("padded", (256, 48))


@pytest.mark.parametrize(
    ("lines", "line", "says"),
    [
        (changed(name='"A"'), 3, "`A` is an array already"),
        (changed(array='"a"'), 4, "`array` names `a`"),
        (changed(array='"M"'), 4, "it can name A, B, C"),
        (changed(shape='["M", "K", 1, 1, 1, 1]', box="[1, 1, 1, 1, 1, 8]"), 5, "5 are the most"),
        (changed(box="[64]"), 6, "`box` has 1 side, and `shape` 2"),
        (changed(swizzle="48"), 7, "one of 0, 32, 64, 128"),
        (changed(fill='"one"'), 8, "one of zero, nan"),
        (changed(strides="[8, 1]"), 8, "the innermost dimension has none"),
        ([*MAP, *MAP], 2, "two [[tensor_map]] have the same name"),
    ],
)
def test_a_wrong_map_is_refused_with_its_line(lines: list[str], line: int, says: str) -> None:
    with pytest.raises(WarpladderError) as caught:
        read(*lines, *LAUNCH)
    assert caught.value.line == line
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "sizes", "line", "says"),
    [
        (MAP, {"K": 33}, 2, "a stride of 66 bytes"),
        (MAP, {"BM": 512}, 6, "a box with a side of 512 elements"),
        (changed(box='["BM", 4]'), {}, 6, "a box of 8 bytes in the innermost dimension"),
        (changed(swizzle="64"), {}, 7, "a swizzle of 64"),
        (changed(shape='["M", "K * 1073741824"]'), {}, 5, "a side of 549,755,813,888 elements"),
        (changed(box='["BM", "M - 256"]'), {}, 6, "box of A_tiles"),
    ],
)
def test_what_a_driver_would_refuse_is_refused_with_its_line(
    lines: list[str], sizes: dict[str, int], line: int, says: str
) -> None:
    with pytest.raises(WarpladderError) as caught:
        planned(read(*lines, *LAUNCH), **sizes)
    assert caught.value.line == line
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("smallest", "arch", "runs"),
    [
        ("sm_90a", "sm_90a", True),
        ("sm_90a", "sm_90", False),
        ("sm_90a", "sm_100a", False),
        ("sm_90", "sm_90a", True),
        ("sm_90", "sm_120a", True),
        ("sm_90", "sm_89", False),
    ],
)
def test_features_of_one_architecture_are_no_other_s(smallest: str, arch: str, runs: bool) -> None:
    assert read(f'smallest_arch = "{smallest}"', *LAUNCH[:2], *LAUNCH[3:]).runs_on(arch) is runs
