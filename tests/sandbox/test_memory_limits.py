"""How much memory there is: what control groups leave of the machine's."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.sandbox.memory import limits

V2 = "0::/batch/job\n"
V1 = "5:cpu,cpuacct:/a\n4:memory:/batch/job\n0::/\n"


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        (V2, {"batch/job/memory.max": "max", "batch/memory.max": "4096", "memory.max": "8192"}, [4096, 8192]),
        (V1, {"memory/batch/job/memory.limit_in_bytes": "512", "memory/memory.limit_in_bytes": "1024"}, [512, 1024]),
        ("0::/../../host\n", {"memory.max": "4096"}, [4096]),  # a path that is not to be seen from a container
        ("4:memory:/docker/1f\n", {"memory/memory.limit_in_bytes": "512"}, [512]),
        ("3:cpu:/a\n", {"memory.max": "1"}, []),
    ],
)  # fmt: skip
def test_the_limits_along_a_groups_path(
    groups: str, files: dict[str, str], expected: list[int], tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    assert list(limits(groups, tmp_path)) == expected
