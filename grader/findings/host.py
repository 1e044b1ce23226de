"""What the emulator saw a program's host code do, in words."""

from __future__ import annotations

from dataclasses import replace

from grader.emulator.cudart.events import HostFinding
from grader.emulator.machine.memory import ARENA_BYTES
from grader.emulator.places import GIVEN
from grader.emulator.runtime.layout import GLOBAL_BASE
from grader.findings.phrases import in_line

_CHECK = "Compare what every call returns with cudaSuccess, and ask cudaGetLastError() after every launch."
_REMEDIES = {
    "unchecked_error": _CHECK,
    "launch_failed": "Launch with what the device allows, and ask cudaGetLastError() after every launch.",
    "too_early": (
        "Wait first: cudaStreamSynchronize, cudaEventSynchronize or cudaDeviceSynchronize, between the call and this "
        "line."
    ),
    "unordered": (
        "Record an event behind the first, cudaEventRecord, and let the stream of the second wait for it, "
        "cudaStreamWaitEvent; or let the host wait in between, cudaStreamSynchronize or cudaDeviceSynchronize."
    ),
    "copy_direction": (
        "Name the direction that the pointers have: the destination comes first. What is to lie on the device has to "
        "come from cudaMalloc."
    ),
    "never_written": (
        "Look for the launch or the copy that was to write there: it is missing, comes later, or was given another "
        "pointer."
    ),
    "use_after_free": "Free memory after the last call that uses it.",
    "double_free": "Free it once, and set the pointer to nullptr.",
    "leak": "Free it with the function that goes with the one that allocated it, before the program ends.",
    "lost_output": "Call cudaDeviceSynchronize() before the program ends: what kernels print is shown then.",
    "crash": "Host code reaches its own memory; device memory is copied to it with cudaMemcpy.",
}
_ALLOCATIONS = {
    "cudaMallocAsync": "allocates",
    "cudaMallocFromPoolAsync": "allocates",
    "cudaFreeAsync": "frees",
    "cudaFree": "frees",
}
"""What calls do to memory that nothing else does."""
_BESIDE_DEFAULT = (
    "A stream made with cudaStreamNonBlocking does not wait for the default stream, nor that for it: call "
    "cudaStreamSynchronize in between, for the stream of the first, or put both into one stream."
)
_ONE_STREAM = (
    "A kernel that is launched with cudaLaunchAttributeProgrammaticStreamSerialization may begin, and even end, while "
    "the one before it still runs: call cudaGridDependencySynchronize() in it, in front of its first access to what "
    "others write or read."
)
_FREE_WAITS_FOR_NOTHING = (
    "With memory of cudaMallocAsync, cudaFree waits for nothing: call cudaStreamSynchronize first, or free it with "
    "cudaFreeAsync in the stream that used it last."
)
_FREES = {
    "cudaHostAlloc": "cudaFreeHost", "cudaMallocHost": "cudaFreeHost", "cuMemAlloc": "cuMemFree",
    "cuMemAllocManaged": "cuMemFree", "cuMemAllocHost": "cuMemFreeHost",
}  # fmt: skip
_NO_BLOCKS = (
    "A grid has at least one block: round the number of blocks up, (n + block - 1) / block, and launch nothing where "
    "there are no elements."
)
_CAUSES = {
    ("cudaEventElapsedTime", "cudaErrorNotReady"): (
        "Wait for the second event first: cudaEventSynchronize, before its time is asked for."
    ),
    ("cudaEventElapsedTime", "cudaErrorInvalidResourceHandle"): (
        "Create both events, and record them with cudaEventRecord, before their times are compared."
    ),
}
"""What mends an error, by the call that returns it."""


def message(finding: HostFinding) -> str:
    """What happened."""
    return _MESSAGES[finding.kind](finding)


def remedy(finding: HostFinding) -> str:
    """What would mend it."""
    if finding.kind == "copy_size":
        if finding.error == "small":
            return "Sizes are in bytes: multiply the number of elements by sizeof of one."
        if finding.array and finding.nbytes in (4 * finding.room, 8 * finding.room):
            return f"Allocate `{finding.array}` in bytes as well: the number of elements times sizeof of one."
        return "Copy no more bytes than both sides have: the number of elements times sizeof of one."
    if finding.kind == "unordered" and finding.call == "cudaFree":
        return _FREE_WAITS_FOR_NOTHING
    if finding.kind == "unordered" and finding.one_stream:
        return _ONE_STREAM
    if finding.kind == "unordered" and finding.beside_default:
        return _BESIDE_DEFAULT
    if finding.kind == "launch_failed" and finding.empty:
        return _NO_BLOCKS
    if finding.kind == "unchecked_error" and (mended := cause(finding.call, finding.error)):
        return f"{mended} {_CHECK}"
    if finding.kind == "leak":
        return f"Call {_FREES.get(finding.call, 'cudaFree')} before the program ends."
    if finding.kind == "crash" and not device_memory(finding):
        return "Look at the pointer or the index that this line uses."
    return _REMEDIES[finding.kind]


def cause(call: str, error: str) -> str:
    """What mends an error that a call returns; "" where the error's reason has to say it."""
    return _CAUSES.get((call, error), "")


def device_memory(finding: HostFinding) -> bool:
    """Whether a crash is from an access to device memory."""
    return GLOBAL_BASE <= finding.address < GLOBAL_BASE + ARENA_BYTES


def _does(finding: HostFinding) -> str:
    return "writes" if finding.writes else "reads"


def _memory(finding: HostFinding) -> str:
    return f"`{finding.array}`" if finding.array else "memory"


def _line(finding: HostFinding) -> str:
    """Where the other call is; with its file, where that is not the finding's own."""
    other, at = finding.other, finding.place
    if other is None:
        return ""
    return in_line(replace(other, file=GIVEN) if at and at.file == other.file else other)


def _because(finding: HostFinding) -> str:
    return f": {finding.reason}" if finding.reason else ""


def _unchecked_error(finding: HostFinding) -> str:
    return f"{finding.call} returned {finding.error}, and nothing looks at it{_because(finding)}"


def _launch_failed(finding: HostFinding) -> str:
    return f"the launch failed with {finding.error}{_because(finding)}"


def _too_early(finding: HostFinding) -> str:
    may = "may still be using it" if finding.writes else "may not have finished"
    return (
        f"the host {_does(finding)} {_memory(finding)}, and {_work(finding.other_call)}{_line(finding)} {may}: "
        "nothing has waited for it"
    )


def _unordered(finding: HostFinding) -> str:
    second = "the kernel launched here" if "Launch" in finding.call else finding.call
    does = _ALLOCATIONS.get(finding.call, _does(finding))
    did = _ALLOCATIONS.get(finding.other_call, "writes" if finding.other_writes else "reads")
    part = f"{finding.nbytes:,} of the bytes" if finding.nbytes < finding.last - finding.first else "bytes"
    return (
        f"{second} {does} {_memory(finding)}, which {_work(finding.other_call)}{_line(finding)} {did}, and "
        f"nothing puts the two in order: both touch {part} {finding.first:,} to {finding.last - 1:,}"
    )


def _work(call: str) -> str:
    return "the kernel launched" if "Launch" in call else call


def _copy_size(finding: HostFinding) -> str:
    if finding.error == "small":
        part = finding.room // finding.nbytes
        return (
            f"{finding.call} copies {finding.nbytes} bytes of {_memory(finding)}, which has {finding.room} on both "
            f"sides: one {'fourth' if part == 4 else 'eighth'}, and the rest is never copied"
        )
    name = f"the {finding.side}" + (f", {_memory(finding)}," if finding.array else "")
    return f"{finding.call} goes over {finding.nbytes} bytes, but {name} has {finding.room}"


def _copy_direction(finding: HostFinding) -> str:
    wanted = finding.error.removeprefix("cudaMemcpy").split("To")[finding.side == "destination"].lower()
    is_ = "device" if wanted == "host" else "host"
    name = f", {_memory(finding)}," if finding.array else ""
    return f"{finding.error} asks for a {finding.side} on the {wanted}, but the {finding.side}{name} is on the {is_}"


def _never_written(finding: HostFinding) -> str:
    return (
        f"{finding.call} copies {finding.nbytes:,} bytes of {_memory(finding)} to the host, and nobody has written any "
        f"of them since {finding.other_call}{_line(finding)}"
    )


def _use_after_free(finding: HostFinding) -> str:
    if finding.side:
        return f"{finding.call} uses {_memory(finding)}, which was freed{_line(finding)}"
    where = f",{in_line(finding.inside)}," if finding.inside else ""
    side = "to" if finding.writes else "from"
    return f"the kernel {_does(finding)}{where} {side} {_memory(finding)}, which was freed{_line(finding)}"


def _double_free(finding: HostFinding) -> str:
    return f"{_memory(finding)} was freed{_line(finding)} already"


def _leak(finding: HostFinding) -> str:
    return f"{_memory(finding)}, {finding.nbytes} bytes of {finding.call}, is never freed"


def _lost_output(finding: HostFinding) -> str:
    return f"the program ends without waiting for this kernel: {finding.nbytes} characters that it printed are lost"


def _crash(finding: HostFinding) -> str:
    what = "device memory" if device_memory(finding) else "memory that is not there"
    return f"the host {_does(finding)} {what}, at {finding.address:#x}: segmentation fault"


_MESSAGES = {
    "unchecked_error": _unchecked_error,
    "launch_failed": _launch_failed,
    "too_early": _too_early,
    "unordered": _unordered,
    "copy_size": _copy_size,
    "copy_direction": _copy_direction,
    "never_written": _never_written,
    "use_after_free": _use_after_free,
    "double_free": _double_free,
    "leak": _leak,
    "lost_output": _lost_output,
    "crash": _crash,
}
