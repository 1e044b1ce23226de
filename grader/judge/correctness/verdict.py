"""From what a kernel did to a verdict, and a reason that tells a learner what to do.

Every function looks at one kind of evidence and returns a Refused or None. A pass is what remains when all of
them have looked at a complete result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader.emulator import metrics
from grader.emulator.machine.orders import CROWDED, REVERSED, Order
from grader.emulator.machine.records import by_line
from grader.findings.bounds import GUARD
from grader.findings.origins import Told
from grader.findings.remedies import ALIGN, REACH_BARRIERS, TRAPS
from grader.judge.child.protocol import Failure, Record
from grader.judge.correctness.comparison import Comparison
from grader.judge.correctness.guards import Damage
from grader.judge.refused import Lost, NoRoom, Refused, RightAtFirst
from grader.results import FindingResult, Mismatch
from grader.workbook import cuda_source, units
from grader.workbook.reference import Problem

ENDLESS = (
    "Look for a loop whose condition never becomes false, as with a step that is 0, and for a __syncthreads() that "
    "some threads of the block never reach. A loop that waits for what others store has to load it anew each time: by "
    "an atomic, or through a volatile pointer."
)

ALL_OF_IT = (
    "Look for a loop in which each thread, or each block, does what one of them was to do, and for a grid with far "
    "more blocks than there is work."
)

UNTIL = (
    "Which store, or which atomic, makes the condition of that loop false? Some thread has to come to it that does not "
    "wait itself, and to the address that is looked at."
)

TOO_MANY_CALLS = {
    "printf": "Print from one thread, under a condition such as `if (blockIdx.x == 0 && threadIdx.x == 0)`, and not at "
    "each turn of a long loop; and see that the loop ends.",
    "malloc": "Take memory once, in front of the loop; or keep values in an array of a constant size, in shared memory "
    "or in a scratch array that the launch block declares. See that the loop ends.",
}
"""How to do with fewer calls, by the function that was called most."""

REPEATING = "repeating"
"""The status of a launch whose threads stored again and again what others had stored."""

FOR_ATOMICS = ", and for threads that add to one element without atomicAdd"
OR_ATOMICS = ", or threads add to one element without atomicAdd"
"""What is said of atomics, where a kernel adds to an element of global memory."""

AT_A_TAIL = ", at the tail of a loop or the edge of a tile"
"""Where a term is often left out, or counted twice."""

SUMS_ARE_EXACT = (
    "This case is exact, no rounding explains a difference: look for a term that is left out or counted "
    f"twice{AT_A_TAIL}{FOR_ATOMICS}."
)
TERM_OF_FEW = (
    "This case is exact, no rounding explains a difference: look for a term that is left out or counted twice, in a "
    "step or at the end of a loop."
)
OF_LANES = (
    "A shuffle brings what another lane of the warp has: which lane does each step read from, and which lanes have met "
    "all others at the end? By distances of 16, 8, 4, 2 and 1, __shfl_down_sync brings all to lane 0 alone, and "
    "__shfl_xor_sync to every lane."
)
EXACT_IN_SINGLE = (
    f"Sums of this case are exact in single precision: a term is left out or counted twice{AT_A_TAIL}{OR_ATOMICS}. "
    "Or sums or factors are rounded to halves, in which they are not exact: keep them in floats until they are stored."
)
MORE_THAN_ROUNDING = (
    "That is more than rounding explains in sums as they are written: look for numbers that pass through a narrower "
    "type on the way, for too many additions into one accumulator, for differences of running sums, in which large "
    "numbers cancel, and for transforms, such as Strassen's or those of large Winograd tiles, which err by a share of "
    "the largest numbers and not of those that are summed."
)
NO_ROUNDING = (
    f"No floating-point type rounds as far as that: look for a term that is left out or counted twice{AT_A_TAIL}, for "
    "a wrong index, for numbers that pass through an int, and for variables that are not set before they are read."
)
INEXACT_CONSTANTS = (
    "Every sum of this case is exact, and the difference is smaller than any term: look for numbers that a float does "
    "not hold, such as the 1/6 and 1/24 in the transforms of Winograd's F(4×4), quotients, and types that are narrower."
)
NO_ZERO = (
    "Where 0 is due, next to nothing comes out, which is no rounding: look for an exponent with a bound, for an eps "
    "that is added, and for a large finite number in the place of −∞."
)
SUMS_IN_HALF = (
    "Sums or products were rounded to half precision, which has 11 significant bits, as an accumulator of halves "
    "does, __hadd, __hmul, __hfma2, or a WMMA accumulator fragment of halves: keep them in float."
)
NOTHING_IS_COMPUTED = "Elements are only moved: look at the index arithmetic, above all where sizes differ."
SPECIAL_VALUES = (
    "Among the inputs of this case are NaN and infinities, which pass through every sum that they are in: 0 · NaN and "
    "0 · ∞ are NaN. Look for products that are left out where a factor is zero, for fmaxf and fminf, which drop NaN, "
    "for comparisons, which are false of NaN (`sum > 0 ? o / sum : 0` is 0 then), and for elements that are multiplied "
    "by zero where they have no part in the sum, such as the last one where an index is clamped, and what an earlier "
    "step of a loop has left in shared memory."
)
RANGE = (
    "Among the inputs of this case are very large and very small numbers, and no NaN and no infinity has a part in "
    "what is wrong: look for what holds less, such as integers, fixed point and halves, for running "
    "sums, which keep what a large number has rounded away, for exponents with a bound, and for a large finite number "
    "in the place of −∞."
)
EVERY_BIT = (
    "Elements are only moved, so that every bit has to arrive, of NaN, infinities, −0 and subnormals too: copy them, "
    "as float or as an integer, and compute nothing."
)
FLUSHED = (
    "Numbers below 2^-126, subnormals, come out as zero: an operation that flushes them (`.ftz` in PTX, "
    "--use_fast_math, __fdividef and the like) has touched what was only to be moved."
)
"""What to look at when an output is wrong, by kind of case."""

NOBODY_WROTE = (
    "NaN is what memory that nobody wrote holds here: is every variable, tile and output set before it is read? An "
    "output that is added to has to be named in `zero`. A shuffle from a lane that its mask leaves out, or that is not "
    "there, gives NaN too: let all 32 lanes take part."
)
"""What NaN is that no arithmetic has made."""


WHICH_THREAD = (
    "Which thread should write it? Either its index leads elsewhere (does it count the blocks before its own?), or it "
    "returns before it has written, or the grid has no such thread: it has to cover sizes that are not multiples of "
    "the block, and cdiv(a, b) rounds up."
)
"""Of elements that nobody has written, as long as nothing is known of why."""


NOTHING_WRITTEN = (
    "Is it the pointer that the kernel writes through, in its place among the launch block's `args`? Is there a guard "
    "that no thread passes? Counters in scratch memory hold nothing at the start, either: name them in `zero`."
)
"""Of an output that nobody has written at all."""


_TRAPPED = (
    "It has trapped (assert, __trap()), or accessed shared memory that is not there: beyond its end, or of a block of "
    "the cluster that has ended."
)
FAULTS = {
    "ILLEGAL_ADDRESS": GUARD,
    "MISALIGNED_ADDRESS": ALIGN,
    "ASSERT": _TRAPPED,
    "HARDWARE_STACK_ERROR": "Its calls go too deep for the stack, or have overwritten it.",
    "ILLEGAL_INSTRUCTION": _TRAPPED,
    "INVALID_ADDRESS_SPACE": "An instruction for one memory was given the address of another.",
    "INVALID_PC": "It jumped to where there is no code, as by a function pointer that was never set.",
    "LAUNCH_FAILED": _TRAPPED,
}
"""The statuses with which a GPU's driver stops a kernel that is at fault, and what is behind it or would mend it."""

NO_MEMORY = "OUT_OF_MEMORY"


def of_failure(failure: Failure) -> Refused:
    """What the driver, or the emulator, refused to do."""
    message = _sentence(failure.message)
    if failure.kind == "NotEmulated":
        remedy = "Run it on a GPU (--device pycuda), or write this part without that instruction."
        return Refused("error", f"{message} {remedy}")
    if failure.status in FAULTS:
        remedy = f"{FAULTS[failure.status]} `--device emulator` shows the line."
        return Refused("fail", f"The GPU stopped the kernel: {message} {remedy}")
    if failure.status == NO_MEMORY:
        return Refused("error", f"{message} Choose smaller sizes with --set.")
    return Refused("error", f"The launch failed: {message}")


def of_clock(seconds: float) -> Refused:
    """The child was ended because what ran in it did not end."""
    return Refused("timeout", f"The kernel had not ended after {seconds:g} s. {ENDLESS}")


def of_delay(seconds: float) -> Lost:
    """The emulator, which ends kernels by what they execute, did not answer."""
    reason = (
        f"The emulator had not answered after {seconds:g} s. Either each thread does the work of all (a loop "
        "over all elements, as on a CPU), or this machine is too busy: then grade it again."
    )
    return Lost("timeout", reason)


def of_end(message: str) -> Refused:
    """The child was ended by the stranger's code that ran in it."""
    return Refused("error", f"{_sentence(message)} If this happens again, please report it with the file.")


def of_death(message: str, too_large: bool) -> Lost:
    """The child ended, and no stranger's code ran in it. `too_large`: it took more memory than there is for it."""
    own = of_end(message)
    return (NoRoom if too_large else Lost)(own.verdict, own.reason)


def of_records(records: Sequence[Record], budget: int | None) -> Refused | None:
    """Launches that did not come to their end."""
    for record in records:
        if record.status == "budget exhausted":
            return Refused(
                "timeout",
                f"A block of `{record.kernel}` executed {budget:,} warp instructions and had not ended; this "
                f"problem needs far fewer. {_busiest(record)}{ENDLESS}",
            )
        if record.status == "waiting in vain":
            return Refused(
                "timeout",
                f"The blocks of `{record.kernel}` that have not ended wait, in loops, for what none of them does any "
                f"more. {_busiest(record)}{UNTIL}",
            )
        if record.status == "launch budget exhausted":
            executed = record.counters.get(metrics.WARP_INSTRUCTIONS, 0)
            return Refused(
                "timeout",
                f"The blocks of `{record.kernel}` had executed {executed:,} warp instructions together and were not "
                f"done; this problem needs far fewer. {_busiest(record)}{ALL_OF_IT}",
            )
        if record.status == "calls exhausted":
            return Refused("timeout", _calls(record))
        if record.status == REPEATING:
            return Refused(
                "timeout",
                f"Threads of `{record.kernel}` store the very elements that others have stored, again and again, and "
                f"it was stopped. {_busiest(record)}{ALL_OF_IT}",
            )
        if record.status == "starved":
            return Refused(
                "timeout",
                f"`{record.kernel}` waits on a later block that is not resident: all the blocks that there is room "
                f"for wait, and of {math.prod(record.grid):,} in the grid the next can only begin when one of "
                "them has ended. Let blocks wait only for earlier ones (numbered by an atomic counter); or launch no "
                "more than fit, with `cooperative = true`, which promises that all of them are there.",
            )
        if record.status == "deadlock" and not record.findings:
            return Refused("timeout", f"`{record.kernel}` deadlocked at a barrier. {REACH_BARRIERS}")
        if record.status == "trap" and not record.findings:
            return Refused("fail", f"`{record.kernel}` stopped with a trap. {TRAPS}")
    return None


def _calls(record: Record) -> str:
    most = max(record.host_calls, key=record.host_calls.__getitem__)
    made = " and ".join(f"{name} {count:,} times" for name, count in record.host_calls.items())
    return (
        f"`{record.kernel}` called {made} and had not ended: on a GPU too, a call takes as long as hundreds of "
        f"instructions. {TOO_MANY_CALLS['printf' if most == 'printf' else 'malloc']}"
    )


def _busiest(record: Record) -> str:
    """The lines in which a launch spent its instructions; "" where those are all that were run."""
    executed = {
        line: counters.get(metrics.WARP_INSTRUCTIONS, 0) for line, counters in by_line(record.lines).items()
    }
    most = max(executed.values(), default=0)
    known = [line for line in executed if line]
    lines = [line for line in known if executed[line] > most / 100]
    if not lines:
        return ""
    first, last = min(lines), max(lines)
    if first != last and (first, last) == (min(known), max(known)):
        return ""
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    return f"It spent its instructions in {where}. "


def of_order(refused: Refused, order: Order) -> Refused:
    """What a kernel that is right while its blocks run one after the other, by number, does in another order, or where
    fewer of them are there at a time."""
    if order == CROWDED:
        return refused.saying(
            "At the topic's main size the device cannot hold all blocks at a time. With no more of them at a time than "
            f"one multiprocessor holds: {refused.reason}"
        )
    how = {REVERSED: "from the last to the first, as do their warps", "shuffled": "in a random order"}
    way = how.get(
        order, "at the same time, taking turns, and see late what others store without a fence behind it"
    )
    return refused.saying(
        f"It depends on the order of the blocks, which may be any. With blocks that run {way}: {refused.reason}"
    )


def of_warps(refused: Refused) -> RightAtFirst:
    """What a kernel whose blocks have nothing to do with each other does where the last warp runs first."""
    return RightAtFirst(
        refused.verdict,
        "It depends on the order of a block's warps, which may be any. With warps that run from the last to the first: "
        f"{refused.reason} Have all wait at __syncthreads() before a warp takes what others add to shared memory.",
    )


def of_meetings(refused: Refused) -> RightAtFirst:
    """What a kernel with barriers for some of a block's warps does where those with even numbers run first."""
    return RightAtFirst(
        refused.verdict,
        "It depends on the order of a block's warps, which may be any. With warps 0, 2, 4, … of a block before the "
        f"others: {refused.reason} A barrier opens for the first threads that come, so warps that are to meet at the "
        "same time as others need one with a number of their own.",
    )


def of_one_multiprocessor(refused: Refused) -> RightAtFirst:
    """What a kernel that asks for the multiprocessor of a block does where all blocks are on the same."""
    return RightAtFirst(
        refused.verdict,
        "It depends on which multiprocessor runs which block, and any may run any. With all blocks on the same one, so "
        f"that %smid is the same for all: {refused.reason} What is to be a block's own has to be chosen by blockIdx.",
    )


def of_later_call(refused: Refused, static: bool = False) -> RightAtFirst:
    """What a kernel that is right when it is called first does when it is called again; `static`: its text has such a
    variable."""
    kept = "a `static` variable, which is in global memory," if static else "a `__device__` variable"
    remedy = (
        "Without `static` each thread has its own, and with `__shared__` in place of it each block."
        if static
        else "Have the last block put back what all calls begin with."
    )
    return RightAtFirst(
        refused.verdict,
        f"It is right once only: a later call finds in {kept} what earlier ones have left there. {remedy} Later: "
        f"{refused.reason}",
    )


def of_findings(findings: Sequence[FindingResult]) -> Refused | None:
    """Faults that the emulator saw: they fail a submission even where the output is right."""
    if not findings:
        return None
    first, others = findings[0], len(findings) - 1
    where = f"line {first.line}: " if first.line else ""
    what = f"{where}{first.kind.replace('_', ' ')}: {first.message.rstrip('.')}"
    more = f" (and {others} more finding{'s' if others > 1 else ''})" if others else ""
    return Refused("fail", f"{what[0].upper()}{what[1:]}{more}. {first.remedy or ''}".strip())


def of_guards(name: str, damage: Damage | None, itemsize: int) -> Refused | None:
    """A buffer whose guard zones were written."""
    if damage is None:
        return None
    element = damage.distance // itemsize + 1
    edge = "end" if damage.side == "after" else "start"
    return Refused(
        "fail",
        f"The kernel wrote out of bounds: {damage.nbytes} bytes {damage.side} `{name}` changed, the nearest "
        f"{element} element{'s' if element > 1 else ''} beyond its {edge}. {GUARD}",
    )


SCRATCH = {
    "kernel": "declare a scratch array in the launch block",
    "schedule": "allocate device memory for it in __init__",
}
"""Where a submission puts what is neither input nor output."""


def of_input(
    name: str, index: Sequence[int], outputs: Sequence[str], by: str = "kernel", unwritten: str = ""
) -> Refused:
    """An input that came back changed; `index` is the first changed element. `unwritten` is an output that nobody has
    written at all."""
    changed = f"The {by} changed its input `{name}`, first at [{_list(index)}]"
    if unwritten:
        return Refused(
            "fail",
            f"{changed}, and never wrote `{unwritten}`: have the two changed places, in the list of its parameters or "
            f"where it loads and stores? It has to load from `{name}` and to store to `{unwritten}`.",
        )
    allowed = " and ".join(f"`{output}`" for output in outputs)
    return Refused(
        "fail",
        f"{changed}. Inputs belong to the caller: write only to {allowed}, or {SCRATCH[by]}.",
    )


LONG_ROWS = (
    "A block has as many threads as columns come before it. Where a block takes a row, let each thread go on by "
    "blockDim.x columns at a time until the row ends."
)


def of_comparison(
    comparison: Comparison,
    advice: str,
    problem: Problem,
    scratch: Sequence[str] = (),
    source: str = "",
) -> Refused | None:
    """An output that is not what it should be; `advice` is what to look at in a case of this kind, unless the
    output itself says more, or the topic knows the mistake. `scratch` are the arrays that no launch sets to zero,
    `source` the kernel file's text."""
    mismatch = comparison.mismatch
    if mismatch is None:
        return None
    sizes = units.case(problem)
    if comparison.added_to:
        told = _added_to(mismatch.array, comparison.added_to, mismatch.elements, sizes, source)
        return Refused("fail", told)
    if comparison.unset:
        return Refused("fail", _unset(mismatch.array, comparison.unset, mismatch.elements, sizes, scratch))
    if comparison.first_unwritten is not None:
        usual = comparison.fits[0] if comparison.fits else WHICH_THREAD
        return Refused(
            "fail", _unwritten(mismatch, comparison.unwritten, comparison.first_unwritten, sizes, usual)
        )
    if comparison.mistake is not None:
        return Refused("fail", f"{_wrong(mismatch, comparison, sizes)} {comparison.mistake}")
    usual = comparison.advice or advice
    if comparison.in_half or comparison.flushes:
        usual = SUMS_IN_HALF if comparison.in_half else FLUSHED
    if comparison.fits:
        usual = comparison.fits[0]
    return Refused("fail", f"{_wrong(mismatch, comparison, sizes)} {_advice(mismatch, usual)}")


def _added_to(array: str, count: int, elements: int, sizes: str, source: str) -> str:
    share = "" if elements == 1 else f", at {count} of its {elements} elements"
    said = f"The kernel adds to `{array}` without setting it first{share}, where {sizes}."
    return f"{said} {set_at_start(array, source)}"


def set_at_start(array: str, source: str) -> str:
    """How an output is set that a kernel adds to."""
    assign = "add up in a variable and store it with = where a thread has the whole sum, or "
    if cuda_source.adds_by_atomics_alone(source):  # no thread has the whole sum
        assign = ""
    return (
        f'Outputs hold nothing at the start: {assign}put zero = ["{array}"] into the launch block, which sets it to '
        "zero before that launch."
    )


def _unset(array: str, count: int, elements: int, sizes: str, scratch: Sequence[str]) -> str:
    share = "" if elements == 1 else f", at {count} of its {elements} elements"
    return (
        f"`{array}` is what a scratch array holds at the start{share}, where {sizes}: the kernel reads scratch memory "
        f"that nobody has set. {set_before(scratch)}"
    )


def set_before(scratch: Sequence[str]) -> str:
    """How an array of scratch memory is set, that is one of these."""
    names = " or ".join(f"`{name}`" for name in scratch) or "that array"
    return f"Name {names} in the launch block's `zero`, or have an earlier launch fill it."


def _unwritten(mismatch: Mismatch, count: int, first: Sequence[int], sizes: str, usual: str) -> str:
    if count == mismatch.elements:
        return f"`{mismatch.array}` was never written, where {sizes}. {NOTHING_WRITTEN}"
    return (
        f"{count} of {mismatch.elements} elements of `{mismatch.array}` {'was' if count == 1 else 'were'} never "
        f"written, the first at [{_list(first)}], where {sizes}. {usual}"
    )


def _wrong(mismatch: Mismatch, comparison: Comparison, sizes: str) -> str:
    within = f" within {mismatch.allowed:.3g}" if mismatch.allowed else ""
    text = (
        f"`{mismatch.array}`[{_list(mismatch.index)}] is {units.element(mismatch.actual)}, expected "
        f"{units.element(mismatch.expected)}{within}, where {sizes}."
    )
    if mismatch.elements == 1:
        return text
    if mismatch.wrong == 1:
        return f"{text} It is the only wrong one of {mismatch.elements} elements."
    spans = " × ".join(f"{first}–{last}" for first, last in comparison.box or ())
    return f"{text} {mismatch.wrong} of {mismatch.elements} elements are wrong, all within [{spans}]."


def _advice(mismatch: Mismatch, usual: str) -> str:
    if mismatch.actual == "nan" and usual not in (SPECIAL_VALUES, EVERY_BIT):
        return NOBODY_WROTE
    return usual


def of_origin(refused: Refused, origin: Told) -> Refused:
    """A NaN in an output of which it is known what arithmetic has made it."""
    if NOBODY_WROTE in refused.reason:
        return refused.saying(refused.reason.replace(NOBODY_WROTE, str(origin)))
    return refused.saying(f"{refused.reason} {origin.what}")


def beside(found: Refused, seen: Mismatch | None) -> Refused:
    """What an emulator found in a case, with the wrong element that a GPU left there, which is all that one sees."""
    if seen is None:
        return found
    values = f"was {units.element(seen.actual)}, expected {units.element(seen.expected)}"
    return found.saying(f"{found.reason} On the GPU, `{seen.array}`[{_list(seen.index)}] {values}.")


def _list(index: Sequence[int]) -> str:
    return ", ".join(str(i) for i in index)


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
