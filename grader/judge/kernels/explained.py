"""Why a kernel is wrong, as far as its text, its launch and other cases tell."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np

from grader.emulator import metrics
from grader.judge.child.protocol import Launch
from grader.judge.correctness.cases import Case, make
from grader.judge.correctness.comparison import Comparison
from grader.judge.correctness.explaining import AT_EDGES, NOTHING, OF_ALL_THREADS, THAN, WHAT_IS_DONE
from grader.judge.correctness.findings import AXES
from grader.judge.correctness.verdict import (
    ALL_OF_IT,
    AT_A_TAIL,
    ENDLESS,
    FOR_ATOMICS,
    MORE_THAN_ROUNDING,
    NOBODY_WROTE,
    NOTHING_WRITTEN,
    OF_LANES,
    OR_ATOMICS,
    SUMS_ARE_EXACT,
    TERM_OF_FEW,
    UNTIL,
    WHICH_THREAD,
    beside,
    of_origin,
    set_at_start,
    set_before,
)
from grader.judge.kernels import (
    counted_terms,
    growth,
    launch_tries,
    missing,
    overlaps,
    signature_lint,
    small_case,
    source_tries,
    terms,
)
from grader.judge.kernels.case_run import Outcome, repeats
from grader.judge.kernels.case_runner import ON_FEWER, SMALL, CaseRunner, work
from grader.judge.kernels.compiled import Kernel, Planned
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.refused import Refused, RightAtFirst
from grader.results import FindingResult, Mismatch
from grader.workbook import cuda_source, suspects, units
from grader.workbook.edit import SEVERAL, Edit, lines_of
from grader.workbook.kernel_file import KernelFile
from grader.workbook.slips import longer, macros, threads, values
from grader.workbook.suspects import integers, loops, shared_memory, sums, vectors

FEW = 3
"""Wrong elements that many mistakes explain."""

EXPLAINING = 1 << 20
"""Warp instructions of a block, where a case is run to explain a mistake: what is right takes far fewer."""

MENDED = ("uninitialised_shared", "out_of_bounds", "uninitialised", "misaligned", "undefined_shuffle", "trap")
"""Findings behind which there may be a mistake in the text that is not where they are."""

NO_STORE = "No line of the kernel stores to `{array}`."

OF_ITS_OWN = (
    ": in line {line} each thread reads what it has stored in `{array}` itself. Let it read what another thread has "
    "stored, with a __syncthreads() in between."
)

LEFT_OUT = (
    "Line {line}: `{whole}` is 0 there, and nothing of the input is loaded: the last `{size} % {by}` elements are "
    f"{missing.LEFT}"
)

ONLY_WHOLE = (
    "Line {line}: `{condition}` lets only {by} at a time pass, and nothing else loads `{array}`: the last "
    f"`{{size}} % {{by}}` elements are {missing.LEFT}"
)

STORED_0 = (
    "Every wrong element is 0, and a thread has stored that 0: does nothing add to it before, or is it set to 0 "
    "afterwards?"
)
STORED_OR_CLEARED = (
    "Every wrong element is 0: either a thread has stored that, or nobody has changed what was cleared."
)

TO_ITS_PLACE = (
    ": in line {line} `{output}` is stored by the index that `{array}` is read by, so that each element comes to where "
    "it was. Let one of the two indices be another."
)


def explained(
    current: KernelSubmission, runner: CaseRunner, case: Case, outcome: Outcome, refusal: Refused
) -> Refused:
    """Says what mends the launch, or shows wrong values in a case that can be read. Of what explains the values of the
    case that failed, only that is said which explains those of the small one as well."""
    if isinstance(refusal, RightAtFirst):
        return refusal
    runner = replace(runner, most=EXPLAINING)
    seen = refusal.reason.replace(f" {WHICH_THREAD}", "")
    races = any(finding.kind == "race" for finding in outcome.findings)
    if refusal.verdict == "fail" and (
        mended := (launch_tries.by_steps if races else launch_tries.mended)(runner, current.compiled, case)
    ):
        current.mended_by(mended)
        return refusal.saying(f"{_without_advice(seen, outcome, current.file)} {mended}")
    rounded = outcome.comparison is not None and outcome.comparison.advice == MORE_THAN_ROUNDING
    if refusal.verdict in ("fail", "timeout") and not rounded and (cause := _in_text(current.compiled)):
        # Of a line whose text is known to be wrong, or a variable, a fault is the outcome, and its general remedy leads
        # elsewhere.
        fault = outcome.findings[0] if outcome.findings else None
        advised = fault is not None and _advised(current, fault, cause)
        return refusal.saying(f"{cause} {seen if advised else _without_advice(seen, outcome, current.file)}")
    planned = outcome.planned or current.compiled.plan(case.problem, runner.child.hello().limits)
    if shared := _of_shares(current, runner, case, outcome, planned.launches, refusal):
        return refusal.saying(f"{_without_advice(seen, outcome, current.file)} {shared}")
    tries = not rounded or not _only_rounds(current, runner, case)
    tries = tries and (refusal.verdict == "fail" or repeats(outcome))
    if tries and (mend := _mended(current, runner, case, outcome)):
        current.mended_by(mend.said, mend.line)
        return refusal.saying(f"{_without_advice(seen, outcome, current.file)} {mend.said}")
    comparison = outcome.comparison
    odd = signature_lint.of_threads(current.compiled, planned.launches)
    if comparison is not None and comparison.first_unwritten is not None:
        odd = odd or signature_lint.of_return(current.compiled)
    if refusal.verdict == "fail" and odd is not None:
        refusal = refusal.saying(f"{odd} {seen}")
    if comparison is None or comparison.right or outcome.findings:
        outside = bool(outcome.findings) and outcome.findings[0].kind == "out_of_bounds"
        return _with_quotient(refusal, current) if outside else refusal
    first = Seen(case, refusal, planned, comparison, current.file.source)
    larger = [] if comparison.explained else _larger(current, runner, case)
    others = [seen for seen in larger if not seen.faulty]
    fits = _confirmed(first, others)
    current.small, fits = small_case.of(runner, current.compiled, fits)
    if comparison.first_unwritten is not None:
        odd = odd or signature_lint.of(current.compiled, current.compiled.build.arch)
        idle = _nothing_to_do(first.source, case, outcome) if comparison.never_written and not odd else ""
        told = refusal if odd else _of_unwritten(first, larger, idle)
    else:
        before = comparison.fits[0] if comparison.fits else comparison.advice
        known = loops.without_rest(current.file.source) or _only_whole(current.file.source, case)
        known = known or counted_terms.told(runner, current.compiled, case)
        known = known or next((said for said in fits if not said.endswith(THAN)), "")
        known = known or terms.told(runner, current.compiled, case) or next(iter(fits), comparison.advice)
        known = of_text(known, current.file)
        if known == NOTHING:
            left = _left(current.file.source, case, outcome)
            known = left or f"{first.zeros} {_where([first, *others])}".rstrip()
        told = refusal.saying(refusal.reason.replace(before, known))
    told = _with_rest(told, current.file.source)
    if not (comparison.explained or rounded):
        told = _with_quotient(told, current)
    return _traced(told, current, runner, case, comparison.mismatch)


def of_text(advice: str, file: KernelFile) -> str:
    """What to look at, without what a file has none of: additions in global memory, and in a small exercise tiles. A
    running sum of a file is told alone."""
    if advice == MORE_THAN_ROUNDING:
        return sums.running(file.source) or advice
    if advice.endswith(WHAT_IS_DONE) and (why := _not_exchanged(file.source)):
        return advice.removesuffix(WHAT_IS_DONE) + why
    of_file = advice.replace(AT_A_TAIL, _tails(file.source))
    if not file.given:
        adds = cuda_source.adds_in_global_memory(file.source)
        return of_file if adds else of_file.replace(FOR_ATOMICS, "").replace(OR_ATOMICS, "")
    if advice != SUMS_ARE_EXACT and not advice.startswith(AT_EDGES):
        return of_file
    if "__shfl_" in file.source:
        return OF_LANES
    return TERM_OF_FEW if advice == SUMS_ARE_EXACT and "atomic" not in file.source else of_file


def _left(source: str, case: Case, outcome: Outcome) -> str:
    """Of a kernel that loads nothing where there are fewer elements than a thread takes at a time; "" of another."""
    return next(
        (
            loops.without_turns(source, line, size, by)
            or LEFT_OUT.format(line=line, whole=whole, size=size, by=by)
            for line, whole, size, by in zeros(source, case, outcome)
        ),
        "",
    )


def _only_whole(source: str, case: Case) -> str:
    """Of a kernel that loads nothing of what is left behind whole vectors, in a case with such; "" of another."""
    return next(
        (
            ONLY_WHOLE.format(**vars(whole))
            for whole in vectors.only_whole(source)
            if case.problem.get(whole.size, 0) % whole.by
        ),
        "",
    )


def zeros(source: str, case: Case, outcome: Outcome) -> Iterator[tuple[int, str, str, str]]:
    """Quotients of sizes that are 0 in a case in which a kernel loads nothing: the line, and as they are written whole
    and in parts. A name that the file gives a number is no size, whatever it is called."""
    if sum(record.counters.get(metrics.GLOBAL_REQUESTS["ld"], 0) for record in outcome.records):
        return
    text = cuda_source.plain(source)
    values = cuda_source.numbers(source)
    for found in re.finditer(r"(?<![\w.])([A-Za-z_]\w*)\s*/\s*(\w+)", text):
        size, by = None if found[1] in values else case.problem.get(found[1]), found[2]
        if size is not None and size < (int(by) if by.isdecimal() else values.get(by, 0)):
            yield cuda_source.line_at(text, found.start()), found[0], found[1], by


def _nothing_to_do(source: str, case: Case, outcome: Outcome) -> str:
    """Of a kernel whose loops make no turn, as a quotient is 0 by which they end; "" of another."""
    found = zeros(source, case, outcome)
    return next(filter(None, (loops.without_turns(source, line, *parts) for line, _, *parts in found)), "")


def _not_exchanged(source: str) -> str:
    """Why what goes through shared memory comes to where it was; "" where that is not to be seen."""
    for array, line in shared_memory.of_own_elements(source, barrier=False).items():
        return OF_ITS_OWN.format(array=array, line=line)
    shared = cuda_source.shared_arrays(source).keys()
    for line in range(1, source.count("\n") + 2) if shared else ():
        for output in cuda_source.arrays_in(source, line, "global", stored=True):
            for array in sorted(cuda_source.indexed_alike(source, line, output) & shared):
                return TO_ITS_PLACE.format(line=line, output=output, array=array)
    return ""


def _tails(source: str) -> str:
    """Where a term may be left out, of loops and tiles, as far as a file has them."""
    loop = re.search(r"\b(for|while)\b", cuda_source.plain(source)) is not None
    tile = any(cuda_source.shared_arrays(source).values())
    where = ["the tail of a loop"] * loop + ["the edge of a tile"] * tile
    return f", at {' or '.join(where)}" if where else ""


def _with_rest(refusal: Refused, source: str) -> Refused:
    """With the line and the statement by which threads take what is left, where they are known."""
    said = vectors.one_of_rest(source)
    return refusal.saying(refusal.reason.replace(missing.ONE_BY_ONE, said)) if said else refusal


def _with_quotient(refusal: Refused, current: KernelSubmission) -> Refused:
    """With a quotient in the text that may be rounded to a wrong index."""
    return refusal.saying(f"{refusal.reason} {integers.rounded(current.file.source)}".rstrip())


def _of_shares(
    current: KernelSubmission,
    runner: CaseRunner,
    case: Case,
    outcome: Outcome,
    launches: Sequence[Launch],
    refusal: Refused,
) -> str:
    """What is wrong with what each thread, or block, has to do; "" where that is not to be seen."""
    told = ""
    if refusal.verdict == "timeout":
        # Of a kernel that stores its elements again and again, the share of each thread is searched for.
        of_work = signature_lint.of_unused if repeats(outcome) else signature_lint.of_same_work
        told = of_work(current.compiled, launches) or growth.told(runner, current.compiled, case, outcome)
    elif refusal.reason.startswith(ON_FEWER):
        told = signature_lint.of_few_blocks(current.compiled) or ""
    return told or (overlaps.told(runner, current.compiled, case) if repeats(outcome) else "")


def _in_text(kernel: Kernel) -> str:
    """What is suspicious in the text of a kernel that is wrong, whatever it was seen to do."""
    said = suspects.said(kernel.file.source, kernel.build.warnings, kernel.file.path.name)
    return said or _counted_in_scratch(kernel.file) or signature_lint.of_own_grid(kernel)


def _counted_in_scratch(file: KernelFile) -> str:
    """A counter in scratch memory that nothing sets."""
    for name in file.unset if len(file.launches) == 1 else ():
        line = sums.counted_up(file.source, name)
        if line:
            return f"Line {line}: `{name}` is scratch memory, which holds nothing at the start. {set_before([name])}"
    return ""


def _advised(current: KernelSubmission, fault: FindingResult, cause: str) -> bool:
    """Whether the general remedy of a fault is worth its words beside a mistake in the text. What is said of a
    condition there is about the text that is wrong, and said of no finding."""
    named = re.match(r"Line (\d+):", cause)
    if named and f"line {named[1]} " in f"{fault.remedy} ":
        current.findings = [replace(each, remedy=None) for each in current.findings]
        return False
    own_line = re.search(rf"\b[Ll]ine {fault.line}\b", cause)
    return fault.kind != "uninitialised" and not own_line and not _about(cause, current.file, fault)


def _about(cause: str, file: KernelFile, fault: FindingResult) -> bool:
    """Whether a mistake in the text is one of a variable that the line of a fault has, and no size of the problem."""
    line = cuda_source.statement(file.source, fault.line or 0)
    named = {*re.findall(r"`([A-Za-z_]\w*)`", cause)} - {size.name for size in file.signature.sizes}
    return bool(named & {*re.findall(r"[A-Za-z_]\w*", line)})


@dataclass(frozen=True)
class Seen:
    """A case that a kernel gets wrong."""

    case: Case
    refusal: Refused
    planned: Planned
    comparison: Comparison
    source: str
    faulty: bool = False  # an emulator has found a fault in what it does, by which threads are stopped

    @property
    def tells(self) -> bool:
        """Whether what fits its wrong elements fits more than a few, and no side is so short that all are alike."""
        wrong = self.comparison.mismatch
        return (
            wrong is not None
            and wrong.wrong >= min(FEW, wrong.elements)
            and 1 not in self.case.problem.values()
        )

    @property
    def several_blocks(self) -> bool:
        """Whether there is more than one block, so that it shows where each begins."""
        return math.prod(self.planned.launches[-1].grid) > 1

    def said(self, what: str = "") -> str:
        """What there is to say of it, behind what another case has shown: `what`, or why it was refused."""
        sizes = units.case(self.case.problem)
        what = what or self.refusal.reason.replace(f", where {sizes}", "")
        return f"At {sizes}, {what[0].lower()}{what[1:]}"

    @property
    def cleared(self) -> bool:
        """Whether the wrong output held 0 before."""
        wrong = self.comparison.mismatch
        return wrong is not None and any(wrong.array in launch.zero for launch in self.planned.launches)

    @property
    def zeros(self) -> str:
        """Where its wrong elements, which are all 0, have that from. Of what is not cleared, nobody else stores it."""
        wrong, source = self.comparison.mismatch, self.source
        if not self.cleared:
            return STORED_0
        lines = range(1, source.count("\n") + 2)
        stores = (cuda_source.arrays_in(source, line, "global", stored=True) for line in lines)
        return STORED_OR_CLEARED if wrong and any(wrong.array in each for each in stores) else NOTHING

    @property
    def missing(self) -> str:
        """What those elements have in common that nobody has written, or added to. A 0 that was stored is neither."""
        found, wrong = self.comparison.missing, self.comparison.mismatch
        if found is None or wrong is None or self.faulty:
            return ""
        if self.comparison.first_unwritten is None and not (
            self.cleared or cuda_source.adds_in_global_memory(self.source)
        ):
            return ""
        arrays = chain.from_iterable(cuda_source.shared_arrays(self.source).values())
        tiles = {tuple(extent or 0 for extent in item.extents) for item in arrays}
        by_thread = cuda_source.adds_by_thread(self.source)
        launch = self.planned.launches[-1]
        all_one = missing.all_one(self.source, wrong.array, launch) if wrong.elements > 1 else ""
        return all_one or missing.told(found, launch, by_thread, tiles, self.source)


def _larger(current: KernelSubmission, runner: CaseRunner, case: Case) -> list[Seen]:
    """Larger cases that are wrong as well."""
    found = []
    for other in launch_tries.to_be_right(runner, case)[1:]:
        if work(runner.topic, other.problem) <= work(runner.topic, case.problem):
            continue
        outcome = runner.outcome(current.compiled, other)
        if outcome.refusal is not None and outcome.refusal.verdict == "timeout":
            break
        if outcome.refusal is None or outcome.comparison is None or outcome.planned is None:
            continue
        source, faulty = current.file.source, bool(outcome.findings)
        found.append(Seen(other, outcome.refusal, outcome.planned, outcome.comparison, source, faulty))
    return found


def _confirmed(first: Seen, larger: Sequence[Seen]) -> tuple[str, ...]:
    """Of what explains the wrong elements of a case, what explains those of larger ones as well. Where there are few,
    or a side has one element, many mistakes do, and the larger ones decide."""
    cases = [seen for seen in (first, *larger) if seen.tells] or [first, *larger]
    fits = cases[0].comparison.fits
    found = tuple(said for said in fits if all(said in seen.comparison.fits for seen in cases))
    # That nothing was added, or by all threads of a block, is seen, and no guess.
    return found or tuple(said for said in first.comparison.fits if said == NOTHING or OF_ALL_THREADS in said)


def _of_unwritten(first: Seen, larger: Sequence[Seen], idle: str) -> Refused:
    """Says which elements nobody has written, of a larger case where in the one that failed all are, or a few; `idle`:
    why nobody has anything to do there."""
    refusal = first.refusal
    seen = refusal.reason.removesuffix(WHICH_THREAD).removesuffix(NOTHING_WRITTEN)
    if seen == refusal.reason:  # the comparison knows why
        return refusal
    array = first.comparison.mismatch.array if first.comparison.mismatch else ""
    if first.comparison.never_written and cuda_source.never_used(first.source, array):
        return refusal.saying(f"{seen}{NO_STORE.format(array=array)}")
    if why := loops.without_rest(first.source) or idle:
        return refusal.saying(f"{seen}{why}")
    telling = first.tells and (first.several_blocks or not any(other.missing for other in larger))
    if (telling or all(other.faulty for other in larger)) and (said := first.missing):
        return refusal.saying(f"{seen}{said}")
    if other := next((other for other in larger if other.missing), None):
        return refusal.saying(f"{seen}{other.said(other.missing)}")
    if not larger or not first.comparison.never_written:
        return refusal
    return refusal.saying(f"{seen}{max(larger, key=lambda other: other.faulty).said()}")


def _where(cases: Sequence[Seen]) -> str:
    """Which elements nobody has added to, of the first case in which that tells."""
    return next((seen.said(seen.missing) for seen in cases if seen.tells and seen.missing), "")


def _mended(
    current: KernelSubmission, runner: CaseRunner, case: Case, outcome: Outcome
) -> source_tries.Mend | None:
    """What in the text mends a kernel that is wrong in a small case already, where nothing else explains it. Where a
    barrier is missing, many changes would only hide that."""
    comparison, source = outcome.comparison, current.file.source
    lines = [*lines_of(source)]
    wider = [*integers.wider(lines)]
    seen = outcome.findings[0] if outcome.findings else None
    known: list[Edit] = []
    if seen is None and comparison is not None and _is_explained(comparison):
        # That some threads alone have a value is the cause of what the others come to, and that each block takes what
        # is left, of what is more than it has to be, and where a number ends; and of an output that something is added
        # to, that it was to be set.
        known = [*threads.of_some(source), *threads.rests(lines), *wider]
        if comparison.added_to:
            text = cuda_source.plain(source)
            known += [*islice(values.assigned(lines), SEVERAL), *values.without_input(text, lines)]
        if not known:
            return None
    ordered = seen is None or seen.kind != "uninitialised_shared"
    ordered = ordered or cuda_source.barrier(source) is not None
    only = () if seen is None else (*_colliding(seen), *_called(source, _colliding(seen)))
    if seen and _overwrites(seen, "global") and not _overlapping(seen, source):
        # By an index without a block's number: that may be what is wrong, or who stores, and nothing else.
        only = (*source_tries.index_lines(source), seen.line or 0)
    too_small = _too_small(seen, source)
    if only:
        macro = macros.edits(cuda_source.plain(source))  # by which an index may be formed
        only = (*only, *(edit.line for edit in (*wider, *macro, *too_small)))
    if work(runner.topic, case.problem) > SMALL and not repeats(outcome):
        if not wider:  # numbers that small cases do not come to
            return None
        known = wider
    if not ordered:
        return None
    cases = launch_tries.to_be_right(runner, case)
    if seen and seen.kind == "race" and seen.space == "shared" and seen.array:
        own = [edit for edit in threads.one_for_all(lines) if f"`{seen.array}`" in edit.why]
        if own and (mend := source_tries.mended(runner, current.compiled, cases, None, among=own)):
            return mend
    if seen and seen.kind not in MENDED and not only and not _overlapping(seen, source):
        return None
    line = seen.line if seen else None
    mend = source_tries.mended(runner, current.compiled, cases, line, only, known, too_small)
    of_none = loops.all_by_each(source) if mend is None and repeats(outcome) else None
    return mend if of_none is None else source_tries.Mend(of_none[1], of_none[0])


def _too_small(seen: FindingResult | None, source: str) -> list[Edit]:
    """An array in shared memory made longer, where a thread goes beyond its end, or maybe beyond that of a row."""
    if seen is None or seen.space != "shared" or not seen.array:
        return []
    in_rows = _overwrites(seen, "shared") and len(seen.shape or ()) > 1
    return [*longer.edits(source, seen.array)] if seen.kind == "out_of_bounds" or in_rows else []


def _only_rounds(current: KernelSubmission, runner: CaseRunner, case: Case) -> bool:
    """Whether a kernel has a running sum, and is right where nothing is rounded: no small change mends that."""
    exact = make(case.problem, "exact")
    return bool(sums.running(current.file.source)) and source_tries.right(runner, current.compiled, exact)


def _is_explained(comparison: Comparison) -> bool:
    """Whether it is known what makes the wrong elements, and not only how they differ: the last asks for it."""
    fits = comparison.fits
    return comparison.explained and not (fits and (fits == (NOTHING,) or fits[0].endswith("?")))


def _colliding(seen: FindingResult) -> tuple[int, ...]:
    """The lines in which threads store to the same place of shared memory, where a barrier only decides whose value
    stays. Empty where that is not what was seen."""
    other = seen.other
    if not _overwrites(seen, "shared") or other is None or seen.line is None or other.line is None:
        return ()
    return seen.line, other.line


def _called(source: str, lines: Collection[int]) -> Iterator[int]:
    """The lines of the functions of a text that some of its lines call."""
    text = cuda_source.plain(source)
    calls = "\n".join(cuda_source.statement(source, line) for line in lines)
    for function in cuda_source.FUNCTION.finditer(text):
        if re.search(rf"\b{function[1]}\s*\(", calls):
            end = text.find("\n}", function.end())
            yield from range(
                cuda_source.line_at(text, function.start()),
                cuda_source.line_at(text, max(end, function.end())) + 1,
            )


def _overlapping(seen: FindingResult, source: str) -> bool:
    """Whether blocks store to each other's elements, which no barrier comes between, by an index that has something of
    blockIdx: it is wrong."""
    return _overwrites(seen, "global") and not cuda_source.lacks_block(
        source, seen.line or 0, seen.array or "", AXES
    )


def _overwrites(seen: FindingResult, space: str) -> bool:
    """Whether threads store to each other's elements of a state space."""
    other = seen.other
    return (
        other is not None
        and seen.kind == "race"
        and seen.space == space
        and seen.action == other.action == "write"
    )


def _without_advice(reason: str, outcome: Outcome, file: KernelFile) -> str:
    """A reason without what to look at in general, where it is known what mends the kernel."""
    comparison = outcome.comparison
    general = [finding.remedy for finding in outcome.findings[:1]]
    general += [NOBODY_WROTE, NOTHING_WRITTEN, ENDLESS, UNTIL, ALL_OF_IT, set_before(file.unset)]
    if comparison is not None:
        general += [*comparison.fits[:1], comparison.advice]
    if comparison is not None and comparison.mismatch is not None:
        general.append(set_at_start(comparison.mismatch.array, file.source))
    for text in filter(None, general):
        reason = reason.removesuffix(f" {text}")
    return reason


def _traced(
    refusal: Refused, current: KernelSubmission, runner: CaseRunner, case: Case, seen: Mismatch | None
) -> Refused:
    """Says what has made a NaN that is not expected; where others are, the first that is made may be one of those."""
    if seen is None or seen.actual != "nan" or seen.expected == "nan":
        return refusal
    if any(np.isnan(expected).any() for expected in runner.store.get(case).expected.values()):
        kept = shared_memory.kept(current.file.source)
        return refusal.saying(f"{refusal.reason} {kept}".rstrip())
    origin = runner.origin_of_nan(current.compiled, case)
    return refusal if origin is None else of_origin(refusal, origin)


def as_it_grows(
    current: KernelSubmission, runner: CaseRunner, case: Case, outcome: Outcome, refusal: Refused
) -> Refused:
    """Says of a kernel that is slow where cases are counted that what it has to do grows with them, if it does."""
    grows = growth.told(runner, current.compiled, case, outcome)
    said = _without_advice(refusal.reason, outcome, current.file)
    return refusal.saying(f"{said} {grows}") if grows else refusal


def on_emulator(current: KernelSubmission, runner: CaseRunner) -> None:
    """Run the case that failed on a GPU on an emulator: a race that it finds there, with its line, tells a learner more
    than the wrong element does."""
    case = current.last
    assert case is not None, "one has failed"
    outcome = runner.outcome(current.compiled, case)
    seen = current.cases[-1].first_mismatch if current.cases else None
    if outcome.findings and outcome.refusal is not None:
        current.refusal = beside(outcome.refusal, seen)
        current.findings.extend(outcome.findings)
    elif current.refusal is not None:
        current.refusal = _traced(current.refusal, current, runner, case, seen)


def lint_signature(current: KernelSubmission, arch: str) -> None:
    """Put what is odd about the parameters of a kernel that failed before the reason, and behind it what to look at
    where nothing but a wrong result is known. An access out of bounds is then the outcome: what mends others is left
    out."""
    odd = signature_lint.of(current.compiled, arch)
    wrong = bool(current.cases and current.cases[-1].first_mismatch) and not current.findings
    look_at = signature_lint.of_tiles(current.compiled) if wrong and odd is None else None
    if current.refusal is not None:
        reason = current.refusal.reason
        fault = current.findings[0] if current.findings else None
        if odd and fault and fault.kind == "out_of_bounds" and not current.mended:
            reason = reason.removesuffix(f" {fault.remedy}")
        parts = filter(None, (odd, reason.replace(f" {WHICH_THREAD}", "") if odd else reason, look_at))
        current.refusal = current.refusal.saying(" ".join(parts))
