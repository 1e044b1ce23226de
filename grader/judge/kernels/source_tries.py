"""What makes a wrong kernel right, of small changes to its text: many are compiled together, and each is run."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from grader.emulator import metrics
from grader.emulator.nvrtc.compilation import Build
from grader.errors import WarpladderError
from grader.judge.child.protocol import Record
from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case
from grader.judge.correctness.findings import MOST_OF_AN_INT
from grader.judge.kernels import overlaps
from grader.judge.kernels.case_run import Outcome, repeats
from grader.judge.kernels.case_runner import SMALL, CaseRunner, work
from grader.judge.kernels.compiled import Kernel
from grader.judge.kernels.counted_terms import MOST_INSTRUCTIONS, executed
from grader.judge.refused import Refused
from grader.workbook import begins, compiler, cuda_edits, cuda_source, slips, small_edits
from grader.workbook.compiler import CompileFailed
from grader.workbook.edit import SEVERAL, Edit
from grader.workbook.kernel_file import parse_source
from grader.workbook.signature import impossible
from grader.workbook.slips import numbers
from grader.workbook.suspects import integers, loops
from grader.workbook.suspects.shared_memory import of_own_elements
from grader.workbook.topic import Topic

MOST = 256
"""Changes of a file's code that are tried at the most."""

MOST_OF_LAUNCH = 32
"""Changes of its launch block, for which nothing is compiled."""

TOGETHER = 16
"""Changed texts that are compiled at a time: of a small kernel, most of the time goes by before its text is read."""

PTX_TOGETHER, PTX = 1 << 17, 1 << 19
"""Characters of PTX that are compiled at a time, and in all: of a loop that is unrolled hundreds of times there are so
many that each change takes half a second."""
LARGE = 1 << 24
"""Operations and bytes of the largest case that what mends a kernel has to get right: a tenth of a second."""

MORE = 1.5
"""By this factor, it is no longer the same work."""

LONGEST = 200
"""Lines of a file: a beginner's has fewer, and what is longer takes long to compile."""

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_OF_C = re.compile(r'\bextern\s+"C"')
_TOP = re.compile(r"^(?=\.(?:visible|weak|extern|entry|func|global|const|shared)\b)", re.MULTILINE)
_ACCESS = re.compile(r"^\s*(?:@!?%p\d+\s+)?((?:ld|st|atom|red)\.[\w.:]+)", re.MULTILINE)
_DECLARED = re.compile(
    r"\b(?:constexpr\s+[\w ]*?|struct|class|enum(?:\s+class)?|using)\s*\b(\w+)\s*(?=[={;:])"
)
_SPACE = re.compile(r"ladder_try_(\d+)_")
_OF_BLOCK = re.compile(r"^// *block *=")
_LOOP = (
    "Or leave the block as it is, and have each thread take {times} elements wherever it takes one: "
    "`for (int j = 0; j < {tile}; j += {threads})`."
)

_ALONE = (
    "With {change} it comes out right, but each thread then reads only what it has stored itself, so that `{array}` "
    "exchanges nothing. {place}"
)


@dataclass(frozen=True)
class Mend:
    """What makes a kernel right."""

    said: str
    line: int
    """The one that it is about."""


def mended(
    runner: CaseRunner,
    kernel: Kernel,
    tried: Sequence[Case],
    line: int | None,
    only: Collection[int] = (),
    among: Sequence[Edit] = (),
    longer: Sequence[Edit] = (),
) -> Mend | None:
    """What makes all of these cases come out right, and the topic's others; None for nothing. `line` is where
    something was seen to be wrong: changes of it, and of the condition above it, are tried first. With `only`, none but
    those of these lines are, and with `among` none but those; those of `longer` before any that makes an index smaller.
    What stands as the task gives it is not what is wrong, so changes of that alone are not tried."""
    source = kernel.file.source
    if source.count("\n") > LONGEST or source == runner.topic.starter_text:  # which asks for that change
        return None
    left, known = MOST_INSTRUCTIONS, _Known(runner, kernel)
    alone: Mend | None = None
    # What adds nothing else does away with NaN and infinities as well.
    any_there_are = tried[0].kind != "special"
    launched = _launched(kernel) if any_there_are and line is None and not among else iter(())
    candidates = [*among] or _candidates(kernel, line, only, any_there_are, longer)
    for edit, changed in chain(compiled(kernel, candidates), launched):
        ran: dict[Case, Outcome] = {}
        for case in tried:
            ran[case] = outcome = runner.outcome(changed, case, thorough=False)
            left -= executed(outcome)
            if outcome.refusal is not None:
                break
        else:
            also = (*tried, *behind(runner.topic, edit, source, tried[0]), *others(runner, tried))
            more = edit.any and known.accesses_more(ran)
            ran.clear()
            small_first = sorted(also, key=lambda case: work(runner.topic, case.problem))
            mends = not more and all(known.mends(edit, changed, ran, case) for case in small_first)
            if mends and not (edit.any and known.hidden(edit, changed, also)):
                if not (own := _of_own_elements(source, edit)):
                    edit = _far_enough(runner, kernel, changed, edit, tried)
                    parts = (f"With {edit.said} it comes out right.", edit.steps, edit.why)
                    return Mend(" ".join(filter(None, parts)), edit.line)
                # Of threads that may do so already, it would send them back.
                if place := begins.turned(source):
                    alone = alone or Mend(
                        _ALONE.format(change=edit.said, array=own[0], place=place), edit.line
                    )
        if left < 0:
            break
    return alone


def _far_enough(
    runner: CaseRunner, kernel: Kernel, changed: Kernel, edit: Edit, tried: Sequence[Case]
) -> Edit:
    """A change that mends a kernel, with counters that do not end with an int where at one of the topic's sizes they
    come near that: behind the last element, they are further by all threads of a grid."""
    limits = runner.child.hello().limits
    for problem in runner.topic.sampled_cases:
        with suppress(Refused):
            launches = changed.plan(problem, limits).launches
            threads = max(math.prod(launch.grid) * math.prod(launch.block) for launch in launches)
            if max(problem.values()) + threads > MOST_OF_AN_INT:
                break
    else:
        return edit
    below = re.search(r">=\s*0\b|<\s*0\b", edit.applied(kernel.file.source))  # an index that may be below 0
    for kind in ("long long",) if below else ("size_t", "long long"):
        wide = integers.far_enough(kernel.file.source, edit, kind)
        if wide and any(everywhere(runner, each, tried) for _, each in compiled(kernel, [wide])):
            return wide
    return edit


def index_lines(source: str) -> tuple[int, ...]:
    """The lines of indices that are tried as a thread's number in the grid, or in its block."""
    return () if source.count("\n") > LONGEST else numbers.lines(source)


def _of_own_elements(source: str, edit: Edit) -> list[str]:
    """Arrays in shared memory by which threads hand nothing on to each other any more with a change."""
    before = of_own_elements(source)
    return [name for name in of_own_elements(edit.applied(source)) if name not in before]


@dataclass
class _Known:
    """What a kernel does as it is: a change that has threads do the work of others is none that mends it."""

    runner: CaseRunner
    kernel: Kernel
    ran: dict[Case, Outcome] = field(default_factory=dict)
    needless: dict[int, bool] = field(default_factory=dict)
    """Of loops by where they stand: whether it is right without their turns."""

    def mends(self, edit: Edit, changed: Kernel, ran: dict[Case, Outcome], case: Case) -> bool:
        """Whether a case comes out right with a change, which, if it is one of all that there are, leaves to nobody far
        more to do than the kernel does as it is."""
        there = {case: _kept(ran, self.runner, changed, case)}
        more = edit.any and (self.accesses_more(there) or self.leaves_more(there))
        return there[case].refusal is None and not more

    def hidden(self, edit: Edit, changed: Kernel, cases: Sequence[Case]) -> bool:
        """Whether what comes out right with a change is as wrong as before, and is only not seen any more."""
        return self.stores_again(changed, cases[0]) or self.cut_short(edit, cases)

    def cut_short(self, edit: Edit, cases: Sequence[Case]) -> bool:
        """Whether a loop that is changed need not have a turn, or a second one, for all of these cases to be right:
        what it is written for is then wrong, and to have it do nothing mends that no more than to delete it."""
        source = self.kernel.file.source
        for loop in loops.around(source, [at for at, _, _ in edit.changes]):
            if loop.at not in self.needless:
                shorter = [Edit("", edit.line, changes) for changes in loops.cut_short(loop)]
                without = (changed for _, changed in compiled(self.kernel, shorter))
                self.needless[loop.at] = any(
                    all(right(self.runner, changed, case) for case in cases) for changed in without
                )
            if self.needless[loop.at]:
                return True
        return False

    def accesses_more(self, changed: Mapping[Case, Outcome]) -> bool:
        """Whether a changed kernel has accessed far more where this one is right."""
        for case, after in changed.items():
            before = _kept(self.ran, self.runner, self.kernel, case)
            if before.refusal is None and _accessed(after) > MORE * _accessed(before):
                return True
        return False

    def leaves_more(self, changed: Mapping[Case, Outcome]) -> bool:
        """Whether a changed kernel has left far more to one block."""
        for case, after in changed.items():
            before = _kept(self.ran, self.runner, self.kernel, case)
            pairs = zip(before.records, after.records, strict=False)
            if any(_share(now) > MORE * _share(then) for then, now in pairs if then.status == "completed"):
                return True
        return False

    def stores_again(self, changed: Kernel, case: Case) -> bool:
        """Whether blocks store each other's elements, where the kernel was stopped for that or has fewer of them."""
        stopped = repeats(_kept(self.ran, self.runner, self.kernel, case))
        more = self._blocks(changed, case) > self._blocks(self.kernel, case)
        return (stopped or more) and overlaps.there_are(self.runner, changed, case)

    def _blocks(self, kernel: Kernel, case: Case) -> int:
        """The blocks of all launches."""
        planned = kernel.plan(case.problem, self.runner.child.hello().limits)
        return sum(math.prod(launch.grid) for launch in planned.launches)


def _kept(ran: dict[Case, Outcome], runner: CaseRunner, kernel: Kernel, case: Case) -> Outcome:
    """What a kernel does in a case, which is run once."""
    if case not in ran:
        ran[case] = runner.outcome(kernel, case)
    return ran[case]


def _accessed(outcome: Outcome) -> int:
    """What a run loads and stores, as if the lanes of each request had neighbouring elements."""
    return sum(record.counters.get(metrics.IDEAL_SECTORS, 0) for record in outcome.records)


def _share(record: Record) -> float:
    """By how much the block with most to do has more than all blocks on average."""
    executed = record.counters.get(metrics.WARP_INSTRUCTIONS, 0)
    return record.longest_block * record.grid_blocks / max(executed, 1)


def _candidates(
    kernel: Kernel, line: int | None, only: Collection[int], any_there_are: bool, longer: Sequence[Edit] = ()
) -> list[Edit]:
    """The changes that are tried, one for each text that comes of them. One that leaves a loop to do the same each time
    takes away what it was written for."""
    source = kernel.file.source
    near = () if line is None else (line - 1, line)
    known = sorted(cuda_edits.edits(source), key=lambda edit: edit.line not in near)
    found: dict[str, Edit] = {}
    about = _about(kernel, line) if any_there_are else set()
    small = small_edits.edits(source, about) if any_there_are else ()
    for edit in chain(known, slips.guards(source), longer, small):
        if not edit.lines(source) <= kernel.file.given and (not only or edit.line in only):
            found.setdefault(edit.applied(source), edit)
    found.pop(source, None)
    idle = len(loops.idle(source))
    most = min(MOST, PTX // len(kernel.build.ptx) + 1)
    made = (
        edit
        for text, edit in found.items()
        if len(loops.idle(text)) <= idle and not (edit.any and _enlarges(source, text))
    )
    return list(islice(made, most))


def _enlarges(before: str, after: str) -> bool:
    """Whether an array in shared memory is far larger in a changed text: there is then room for what is wrong."""
    larger = cuda_source.shared_arrays(after)
    return any(
        _elements(now) > MORE * _elements(then)
        for name, arrays in cuda_source.shared_arrays(before).items()
        for then, now in zip(arrays, larger.get(name, ()), strict=False)
    )


def _elements(array: cuda_source.SharedArray) -> int:
    return math.prod(extent or 0 for extent in array.extents)


def _about(kernel: Kernel, line: int | None) -> set[int]:
    """A line, or those that store to an output, with the conditions in front of them and what sets their variables."""
    source, outputs = kernel.file.source, kernel.file.signature.outputs
    text = cuda_source.plain(source)
    found = {line} if line else {at for each in outputs for at in cuda_source.stores_to(source, each.name)}
    lines = {*found, *(at - 1 for at in found)}
    for at in found:
        if condition := cuda_source.guard(source, at):
            lines.add(condition)
        for name in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", cuda_source.statement(source, at))):
            sets = re.finditer(rf"(?<![\w.\]]){name}\s*[-+*/]?=(?!=)", text)
            lines |= {cuda_source.line_at(text, each.start()) for each in islice(sets, SEVERAL)}
    return lines


def _launched(kernel: Kernel) -> Iterator[tuple[Edit, Kernel]]:
    """The kernels that come of changes of the launch block, as far as it can be read. Where a grid has an upper bound,
    another number of threads may have it reach all elements of small sizes alone."""
    file, sizes = kernel.file, [size.name for size in kernel.file.signature.sizes]
    if any("min" in side.text for launch in file.launches for side in launch.grid):
        return
    constants = _constants(kernel)
    # With the largest that will do, a grid has no block too many.
    largest_first = sorted(constants, key=lambda name: -constants[name])
    for edit in islice(small_edits.of_launch(file.source, sizes, largest_first), MOST_OF_LAUNCH):
        if not edit.lines(file.source) <= file.given:
            with suppress(WarpladderError):
                changed = parse_source(edit.applied(file.source), file.signature, file.path)
                if set(changed.constant_names) <= constants.keys():
                    used = {name: constants[name] for name in changed.constant_names}
                    yield (
                        replace(edit, why=_loop(edit, file.source, constants)),
                        Kernel(changed, kernel.build, used),
                    )


def _loop(edit: Edit, source: str, constants: Mapping[str, int]) -> str:
    """What does instead of more threads a block: each has more elements. "" of another change."""
    start, end, tile = edit.changes[0]
    threads = source[start:end]
    own, more = constants.get(threads, 0), constants.get(tile, 0)
    if not _OF_BLOCK.match(source.splitlines()[edit.line - 1]) or not 0 < own < more or more % own:
        return ""
    return _LOOP.format(times=more // own, tile=tile, threads=threads)


def _constants(kernel: Kernel) -> dict[str, int]:
    """The values of all constants of a file; of those that its launch block names, where one is no integer."""
    file, names = kernel.file, small_edits.constants_of(kernel.file.source)
    try:
        return compiler.constants(file.source, names, file=file.path, arch=kernel.build.arch)
    except WarpladderError:
        return kernel.constants


def compiled(kernel: Kernel, edits: Sequence[Edit]) -> Iterator[tuple[Edit, Kernel]]:
    """The kernels that come of changes, as far as the compiler takes them: the next are compiled while some are run."""
    together = min(TOGETHER, PTX_TOGETHER // len(kernel.build.ptx) + 1)
    some = [edits[first : first + together] for first in range(0, len(edits), together)]
    with ThreadPoolExecutor(1) as compiling:
        ahead = [compiling.submit(_together, kernel, each) for each in some[:1]]
        for number in range(len(some)):
            ahead += [compiling.submit(_together, kernel, each) for each in some[number + 1 : number + 2]]
            yield from ahead[number].result()


def _together(kernel: Kernel, edits: Sequence[Edit]) -> list[tuple[Edit, Kernel]]:
    """Each changed text in a namespace of its own. Of a text that the compiler refuses, it names a line."""
    source, kernels = kernel.file.source, kernel.file.kernels
    texts = [edit.applied(source) for edit in edits]
    while texts:
        unit, starts = _unit(texts)
        names = [_qualified(name, source, number) for number in range(len(texts)) for name in kernels]
        # To PTX alone: nobody asks for the registers of machine code.
        arch = kernel.build.arch.replace("sm_", "compute_")
        try:
            build = compiler.compile_source(unit, file=kernel.file.path, kernels=names, arch=arch)
        except CompileFailed as failed:
            lines = {item.line for item in failed.diagnostics if item.severity == "error"}
            refused = {sum(start <= line for start in starts) - 1 for line in lines}
            kept = [number for number in range(len(texts)) if number not in refused]
            if len(kept) == len(texts):
                return []
            texts, edits = [texts[number] for number in kept], [edits[number] for number in kept]
            continue
        accesses = _accesses(kernel.build.ptx)
        parts = enumerate(zip(edits, texts, _parts(build.ptx, len(texts)), strict=True))
        return [
            (edit, _one_of(kernel, edit, text, build, number, ptx))
            for number, (edit, text, ptx) in parts
            if not edit.any or accesses <= _accesses(ptx)
        ]
    return []


def _accesses(ptx: str) -> set[str]:
    """The kinds of accesses that there are: a change that makes a condition false for good takes some away."""
    return {access for access in _ACCESS.findall(ptx) if not access.startswith("ld.param")}


def _one_of(kernel: Kernel, edit: Edit, text: str, build: Build, number: int, ptx: str) -> Kernel:
    """A changed kernel, which takes the resources that it took before, of what was compiled together."""
    before = kernel.build
    own = kernel.file.source
    lowered = {name: build.lowered[_qualified(name, own, number)] for name in kernel.file.kernels}
    used = {symbol: before.resources[before.lowered[name]] for name, symbol in lowered.items()}
    built = replace(build, ptx=ptx, lowered=lowered, resources=used)
    file = kernel.file
    if edit.of_launch(file.source):
        changed = parse_source(text, file.signature, file.path)
        return Kernel(replace(changed, given=file.given), built, kernel.constants)
    return Kernel(replace(file, source=text), built, kernel.constants)


def _qualified(name: str, source: str, number: int) -> str:
    """The name of a kernel in a changed text's namespace, with those of the file's constants and types that it has for
    its template."""
    own = {*_DECLARED.findall(source)}
    kernel, made, arguments = name.partition("<")
    arguments = re.sub(
        r"(?<![\w:])[A-Za-z_]\w*", lambda each: _in(number, each[0]) if each[0] in own else each[0], arguments
    )
    return f"{_in(number, kernel)}{made}{arguments}"


def _in(number: int, name: str) -> str:
    return f"{_space(number)}::{name}"


def _space(number: int) -> str:
    return f"ladder_try_{number}_"


def _unit(texts: Sequence[str]) -> tuple[str, list[int]]:
    """One text of several, and the line in which each begins. What is included stands in front of all of them."""
    included = dict.fromkeys(chain.from_iterable(map(_INCLUDE.findall, texts)))
    lines, starts = [*included], []
    for number, text in enumerate(texts):
        starts.append(len(lines) + 1)
        body = _OF_C.sub("", _INCLUDE.sub("", text))
        lines += [f"namespace {_space(number)} {{", *body.split("\n"), "}"]
    return "\n".join(lines), starts


def _parts(ptx: str, count: int) -> list[str]:
    """What each namespace has of a module, and what is everybody's."""
    head, *items = _TOP.split(ptx)
    own: list[list[str]] = [[head] for _ in range(count)]
    for item in items:
        named = _SPACE.search(item)
        for part in own if named is None else [own[int(named[1])]]:
            part.append(item)
    return ["".join(part) for part in own]


def behind(topic: Topic, edit: Edit, source: str, case: Case) -> Iterator[Case]:
    """Cases as far behind a number that is changed as the given one is behind what it was: a condition that is moved
    may only leave what is wrong to other sizes."""
    for start, end, new in edit.changes:
        old = source[start:end]
        if old.isdecimal() and new.isdecimal():
            moved = {
                name: size + int(new) - int(old)
                for name, size in case.problem.items()
                if isinstance(size, int) and int(old) <= size <= int(new)
            }
            problem = {**case.problem, **moved}
            if moved and not impossible(problem, topic.signature):
                yield cases.make(problem, case.kind)


def small(runner: CaseRunner) -> list[Case]:
    """The topic's public cases that take no time."""
    return [case for case in cases.public(runner.topic) if work(runner.topic, case.problem) <= SMALL]


def others(runner: CaseRunner, tried: Collection[Case]) -> Iterator[Case]:
    """The topic's other small cases, and the two largest that take little time, which a change that these come out
    right with has to get right as well: at a few sizes alone much else comes out right."""
    topic = runner.topic
    larger = [
        cases.make(problem, "exact") for problem in topic.judge_cases if SMALL < work(topic, problem) <= LARGE
    ]
    largest = sorted(larger, key=lambda case: work(topic, case.problem))[-2:]
    yield from (case for case in (*small(runner), *largest) if case not in tried)


def everywhere(runner: CaseRunner, kernel: Kernel, tried: Collection[Case]) -> bool:
    """Whether a kernel is right in these cases, and in the others of its topic."""
    return all(right(runner, kernel, case) for case in (*tried, *others(runner, tried)))


def right(runner: CaseRunner, kernel: Kernel, case: Case) -> bool:
    """Whether a kernel can be launched for a case, and is right, in whatever order its blocks and warps run."""
    try:
        return runner.outcome(kernel, case).refusal is None
    except Refused:
        return False
