"""What went wrong with copies, products and mbarriers, which threads begin and do not carry out, in words."""

from __future__ import annotations

from grader.emulator.machine.records import Access, Finding, Phase
from grader.emulator.places import UNKNOWN
from grader.emulator.runtime.layout import MOST_ARRIVALS
from grader.findings.phrases import actor, counted, does, in_line, other_party, shared_place


def unfinished_copy(finding: Finding) -> str:
    if finding.block_ends:
        return (
            f"block {finding.block} ends while the copy that {actor(finding)} issues may still read "
            f"{shared_place(finding)}: no cp.async.bulk.wait_group of that thread covers it"
        )
    other = finding.other or Access()
    copy = f"the copy of {other.place.words()}" if other.place.line else "a copy"
    until = f"{copy} has not read it yet" if other.action == "read" else f"{copy} to it has not arrived"
    return f"{actor(finding)} {does(finding)} {shared_place(finding)} while {until}"


def unfinished_product(finding: Finding) -> str:
    if finding.space is None:
        return f"{finding.instruction} uses a register of a wgmma that no wgmma.wait_group has waited for"
    place = finding.other.place if finding.other else UNKNOWN
    product = f"the wgmma of {place.words()}" if place.line else "a wgmma"
    return f"{actor(finding)} {does(finding)} {shared_place(finding)} while {product} may still read it"


def unfenced_product(finding: Finding) -> str:
    return "a wgmma has no wgmma.fence between it and what its warp has written to its registers"


def mbarrier(finding: Finding) -> str:
    """What is wrong with a phase."""
    phase, place = finding.phase or Phase("absent"), shared_place(finding)
    who = actor(finding)
    match phase.fault:
        case "absent":
            return f"{who} uses {place} as an mbarrier, which no thread of the block has initialised"
        case "overrun":
            return f"{who} {_overrun(phase, place)}"
        case "refilled":
            return (
                f"{who} arrives for the next copies at the mbarrier in {place} while those of phase {phase.number} "
                f"are still under way: the stage is filled again before it was consumed"
            )
        case "in_use":
            return f"{who} initialises the mbarrier in {place} again while phase {phase.number} is under way"
        case "parity":
            return f"{who} {_wrong_parity(phase, place)}"
        case "skipped":
            return (
                f"{who} waits for a phase of the mbarrier in {place} that never completes: earlier phases have "
                f"completed one after the other with no wait in between ({_initialised(phase)})"
            )
        case "arrivals":
            return f"{who} waits for phase {phase.number} of the mbarrier in {place}, {_too_few(phase)}"
    expected, arrived = phase.expected or 0, phase.arrived or 0
    bytes_ = f"expects {expected:,} byte{'' if expected == 1 else 's'} in phase {phase.number}, and {arrived:,} arrive"
    if arrived > expected:
        return f"{who} issues a copy to the mbarrier in {place}, which {bytes_}: the phase is over too early"
    return f"{who} waits for the mbarrier in {place}, which {bytes_}: the phase never completes"


def tensor_map(finding: Finding) -> str:
    return (
        f"{actor(finding)} issues a copy by a tensor map that lies in local memory, where the kernel has copied it: a "
        f"GPU finds one among the kernel's parameters, in constant or in global memory alone"
    )


def descriptor(finding: Finding) -> str:
    of = finding.descriptor
    if of is None:
        return "a descriptor of a wgmma leads out of shared memory"
    value = {"start address": of.start, "leading byte offset": of.leading, "stride byte offset": of.stride}
    others = ", ".join(f"{name} {number:,}" for name, number in value.items() if name != of.field)
    return (
        f"the descriptor of a wgmma's operand {of.operand} leads to byte {of.offset:,} of shared memory, where the "
        f"block has {of.shared_bytes:,} bytes: its {of.field} is {value[of.field]:,} bytes ({others}, "
        f"{f'swizzle of {of.swizzle} bytes' if of.swizzle else 'no swizzle'})"
    )


def registers(finding: Finding) -> str:
    held, had = finding.registers or (0, 0)
    return (
        f"after this setmaxnreg.inc the warps of block {finding.block} have {held:,} registers together, where the "
        f"block began with {had:,}: a GPU waits for ever until so many are free"
    )


def _initialised(phase: Phase) -> str:
    """For how many arrivals an mbarrier was initialised, and where."""
    place = phase.initialised
    what = f"{place.words()} has initialised it" if place.line else "it is initialised"
    return f"{what} for {counted(phase.expected or 0, 'arrival')} a phase"


def _overrun(phase: Phase, place: str) -> str:
    """What is wrong with a number of arrivals."""
    arrived = phase.arrived or 0
    if not phase.expected:
        count = "no arrivals" if arrived == 0 else f"more than {MOST_ARRIVALS:,} arrivals"
        return f"initialises the mbarrier in {place} for {count} a phase: 1 to {MOST_ARRIVALS:,} are possible"
    brings = f"brings {counted(arrived, 'arrival')} to phase {phase.number} of the mbarrier in {place}"
    return f"{brings}, which has no room for that: {_initialised(phase)}"


def _too_few(phase: Phase) -> str:
    """What is missing of a phase that never completes."""
    arrived, pending = phase.arrived or 0, (phase.expected or 0) - (phase.arrived or 0)
    came = f"{arrived} {'has' if arrived == 1 else 'have'} come, {pending} {'is' if pending == 1 else 'are'} missing"
    return f"which never completes: {_initialised(phase)}, {came}, and no others can come"


def _wrong_parity(phase: Phase, place: str) -> str:
    """What a wait for another phase than the next does."""
    number, waited = phase.number or 0, phase.waited or 0
    wait = f"waits for parity {waited & 1} of the mbarrier in {place}"
    if waited == number:
        return (
            f"{wait}, so for phase {number}, of which nothing has arrived: the phase that it has not waited for yet is "
            f"another one, of parity {1 - (waited & 1)}"
        )
    under_way = f"{wait} while phase {number}, of parity {number & 1}, is under way"
    if waited < 0:
        return f"{under_way}: before the first phase is over, a wait for parity 1 passes at once"
    return f"{under_way}: phase {waited} was waited for before, so that the wait passes at once"


def proxy_fence(finding: Finding) -> str:
    other = finding.other or Access()
    reader = f"the {'wgmma' if finding.instruction == 'wgmma' else 'copy'} that {actor(finding)} issues"
    written = f"{shared_place(finding)}, which {other_party(finding, other)} writes{in_line(other.place)}"
    return f"{reader} reads {written}, with no fence.proxy.async in between"
