"""What makes a wrong kernel right, of small changes to its text that often do: each is compiled and run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import Kernel
from grader.workbook import compiler, cuda_edits
from grader.workbook.compiler import CompileFailed

MOST = 16
"""Changes of one file that are tried; each has to be compiled."""

LONGEST = 200
"""Lines of a file: a beginner's has fewer, and what is longer takes long to compile."""


def mended(
    runner: CaseRunner, kernel: Kernel, tried: Sequence[Case], line: int | None, only: Collection[int] = ()
) -> str:
    """What makes all of these cases come out right, and the topic's others; "" for nothing. `line` is where something
    was seen to be wrong: changes of it, and of the condition above it, are tried first. With `only`, none but those of
    these lines are. What stands as the task gives it is not what is wrong, so changes of that alone are not tried."""
    source = kernel.file.source
    if source.count("\n") > LONGEST:
        return ""
    near = () if line is None else (line - 1, line)
    candidates = sorted(cuda_edits.edits(source), key=lambda edit: edit.line not in near)
    candidates = [edit for edit in candidates if not edit.lines(source) <= kernel.file.given]
    if only:
        candidates = [edit for edit in candidates if edit.line in only]
    for edit in candidates[:MOST]:
        changed = _compiled(kernel, edit.applied(source))
        if changed is not None and all(
            right(runner, changed, case) for case in (*tried, *others(runner, tried))
        ):
            return f"With {edit.said} it comes out right.{edit.why and f' {edit.why}'}"
    return ""


def _compiled(kernel: Kernel, source: str) -> Kernel | None:
    file = replace(kernel.file, source=source)
    try:
        build = compiler.compile_source(source, file=file.path, kernels=file.kernels, arch=kernel.build.arch)
    except CompileFailed:
        return None
    return Kernel(file, build, kernel.constants)


def others(runner: CaseRunner, tried: Collection[Case]) -> Iterator[Case]:
    """The topic's other public cases, which a change that these come out right with has to get right as well: at a few
    sizes alone much else comes out right."""
    yield from (case for case in cases.public(runner.topic) if case not in tried)


def right(runner: CaseRunner, kernel: Kernel, case: Case) -> bool:
    """Whether a kernel can be launched for a case, and is right, in whatever order its blocks and warps run."""
    return runner.outcome(kernel, case).refusal is None
