"""Programs that are told by what they print."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.judge.programs.printing import Expected, judge_output
from grader.results import Grade

SOURCE = """
#include <cstdio>
#include <cstdlib>
__global__ void add(int *x, int n) { atomicAdd(x, n); }
int main(int argc, char **argv)
{
    const int n = std::atoi(argv[1]);
    int *d_x, x = 1;
    cudaMalloc(&d_x, sizeof(int));
    cudaMemcpy(d_x, &x, sizeof(int), cudaMemcpyHostToDevice);
    add<<<1, 1>>>(d_x, n);
    cudaMemcpy(&x, d_x, sizeof(int), cudaMemcpyDeviceToHost);
    if (n != 3) cudaFree(d_x);
    std::printf("sum %d\\n", x);
    return n == 4;
}
"""


def judged(folder: Path, argument: str, prints: str, source: str = SOURCE) -> Grade:
    file = folder / "sum.cu"
    file.write_text(source)
    return judge_output(file, [Expected(("1",), "sum 2"), Expected((argument,), prints)])


@pytest.mark.verify
@pytest.mark.parametrize(
    ("argument", "prints", "kind", "said"),
    [
        ("2", "sum 4", "output", "`sum.cu 2`: it prints 'sum 3', and 'sum 4' is right"),
        ("3", "sum 4", "leak", "is never freed"),
        ("4", "sum 5", "status", "it ends with status 1"),
    ],
)
def test_a_program_fails_for_its_output_its_findings_or_its_status(
    tmp_path: Path, argument: str, prints: str, kind: str, said: str
) -> None:
    result = judged(tmp_path, argument, prints)
    assert (result.verdict, [finding.kind for finding in result.findings]) == ("fail", [kind])
    assert said in (result.reason or "")


@pytest.mark.verify
def test_a_right_program_passes(tmp_path: Path) -> None:
    result = judged(tmp_path, "5", "sum 6\n")
    assert (result.verdict, result.reason, result.findings) == ("pass", None, [])


def test_what_does_not_compile_is_an_error_with_its_line(tmp_path: Path) -> None:
    result = judged(tmp_path, "1", "", "int main() {\n    return nowhere;\n}\n")
    assert result.verdict == "error"
    assert 'sum.cu:2: identifier "nowhere" is undefined' in (result.reason or "")
