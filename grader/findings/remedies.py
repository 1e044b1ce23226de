"""What would mend what the emulator saw a kernel do: one remedy for each finding."""

from __future__ import annotations

import math
from collections.abc import Mapping

from grader.emulator.machine.records import BULK_COPY, TENSOR_COPY, Access, Finding, Kind, PhaseFault, Scope
from grader.findings import bounds
from grader.findings.phrases import ELEMENTS, VERBS, is_variable

ALIGN = (
    "An access of several elements at a time, such as a float4, needs an address that is a multiple of its size: take "
    "single elements where rows do not begin at one."
)
_ALIGN_ROWS = (
    "An access of {size} bytes needs an address that is a multiple of {size}: take single {elements} where a row is "
    "not a multiple of {many} {elements} long."
)
REACH_BARRIERS = (
    "Every thread of the block has to reach every __syncthreads(): move it out of the `if`, and do not return before "
    "it."
)
_ONLY_IF = (
    "Every thread of the block has to reach every __syncthreads(): move it out of the body of the condition in line "
    "{line}."
)
_UNEVEN_LOOP = (
    "Threads go through the loop in line {line} more or less often, as threadIdx says, and each time meet this "
    "__syncthreads(): move it behind the loop. Where each step needs one, let all threads take as many steps, and put "
    "the condition on what they load and store."
)
_COME_BY = (
    "The number of threads at a named barrier, bar.sync or bar.arrive, is that of all who come by it, in whole warps: "
    "correct the number, or let the others come by as well."
)
_COOPERATIVE = (
    "Blocks of a plain launch may run one after the other, so none can wait for all others. Launch the kernel with "
    "cudaLaunchCooperativeKernel, or with `cooperative = true` in a launch block: it then has no more blocks than the "
    "device holds at a time."
)
TRAPS = (
    "The compiler puts a trap where code has no meaning, such as an access through a null pointer; __trap() is one as "
    "well. So is, here, a stack that is full: see to it that every function that calls itself comes to an end."
)
_OWN_ATOMIC = (
    "`{function}` in line {line} works on global and shared memory, and `{name}`, declared in line {declared}, is each "
    "thread's own. Where the block is to have one `{name}`, declare it with `__shared__` and without a value, store "
    "what it begins with, and put a __syncthreads() behind that. Where each thread is to have its own, leave the "
    "atomic function out."
)
_FILL = "Shared memory holds nothing at the start: write every element before it is read, also at the edges{also}."
_FROM_END = (
    "The last index is `{size} - 1`, and so it is for a `{by}` of 0: write `{size} - 1 - {by}` in place of `{size} - "
    "{by}`{also}."
)
_CLEAR = "Shared memory holds nothing at the start: set {what} to 0 before {it} is added to{also}."
_AND_A_BARRIER = ", and put a __syncthreads() between"
GO_ON = "`for (int i = threadIdx.x; i < {elements}; i += blockDim.x)`"
"""A loop in which the threads of a block take all elements, however few they are."""
_FEW_THREADS = (
    "Each of the {threads} threads of the block writes one element, and `{array}` has {elements}: let them go on until "
    f"all are written, with {GO_ON}, and put a __syncthreads() behind that."
)
_HALO = (
    "The block's {threads} threads store their elements to `{array}[{halo}]` … `{array}[{last}]`. On each side of "
    "these lies a halo that they read as well, {halo} elements from `{array}[0]` on and {halo} from "
    "`{array}[{behind}]` on, and not all of it is stored. Let the first {halo} threads load one of each, to "
    "`{array}[threadIdx.x]` and to `{array}[threadIdx.x + {behind}]`, in front of the barrier, and store 0, or what "
    "leaves the result as it is, where there is no such element."
)
TAKE_SEVERAL = (
    "let each thread take {times}, threadIdx.{axis} + j with `for (int j = 0; j < {all}; j += {threads})`, both where "
    "the tile is stored and where it is read"
)
"""Of blocks that have fewer threads than a tile has rows, and a thread takes one."""
_LIKEWISE = "Let them go on in {lines} as well, where each thread takes one element."
_TILE = "Is each element of `{array}` read by the indices that it is stored by, and on the same conditions? "
_EXCHANGED = "`{array}` is read with the indices exchanged by which it is stored{goes_by}{also}."
_AS_STORED = ": read it by those that it is stored by"
_AS_TRANSPOSED = ", which is right where rows become columns"
_CONDITION = (
    ". The condition in front of that has to be about the element of the output that is stored there, its row and its "
    "column in the output"
)
_FILLING = (
    ". Each step of the loop in line {line} fills a part of `{array}` alone: let that loop end, put a __syncthreads() "
    "behind it, and read `{array}` in a loop of its own"
)
_BELONGS = (
    ". What is read there has to be the element that belongs to the place in the output where it is stored, and the "
    "condition in front of it has to be about that place"
)
_OF_SQUARES = ". Elsewhere, read it by the indices that it is stored by"
_RETURNED = (
    "Threads return in line {line}, and do not reach barriers behind it: let all threads of the block go on, and put "
    "the condition, turned round, on what they store to global memory, and on each load one for the index that it "
    "loads by."
)
_RETURNED_UNSET = (
    "Store 0 to shared memory where there is no element (or what leaves the result as it is, as 1 does a product), and "
    "take out the `return` in line {line}: every thread has to fill its part and to reach the barriers behind. Its "
    "condition, turned round, belongs in front of each store to global memory, as `if (i < N)` does for a return where "
    "`i >= N`, and each load has one for the index that it loads by."
)
_SYNCTHREADS = (
    "Put a __syncthreads() between the accesses: after {array} is written and before it is read, and after it is read "
    "and before it is written again."
)
_BETWEEN = (
    "Put a __syncthreads() between lines {upper} and {lower}, where all threads come by: before one {does} {array}, "
    "all are to have {done}."
)
_SYNCWARP_ALONE = (
    "Lanes of a warp do not run in step by themselves: put a __syncwarp() between the accesses. Not all of the block "
    "comes by behind the condition in line {line}, so that no __syncthreads() may stand there."
)
_SYNCWARP = " A __syncwarp() is enough only where no other warp comes to these elements."
_FENCE = "Put a __threadfence() between the store and the atomic or the volatile store that announces it."
_FENCE_OF_BLOCK = (
    "A fence for the block, __threadfence_block(), makes a store known to the block's own threads alone. "
    f"{_FENCE}"
)
_WAIT = (
    "Put a __threadfence() between the store and the atomic or the volatile store that announces it, by the same "
    "thread or by one that a __syncthreads() puts behind it, and let the reader wait for the announcement "
    "with atomic or volatile loads: a plain one the compiler may take out of the loop."
)
_FENCES: Mapping[Scope | None, str] = {None: _FENCE, "block": _FENCE_OF_BLOCK, "grid": _WAIT}
"""What lets one block read what another has announced, by the fences that there are."""
_ONE_STORE = (
    "Let one thread store each element: put the store under a condition such as `if (threadIdx.x == 0)`, or add with "
    "atomicAdd."
)
_ADD_PARTS = (
    "No thread of this kernel knows what the others have: where each has a part of a sum, add with "
    "atomicAdd(&{array}[…], …), to elements that are zero before the launch. Where each has an element of its own, the "
    "index has to differ from thread to thread."
)
_ADD = "Every block stores to the same element, and the last one's value stays: add with atomicAdd{own}."
_OWN = ", or give each block an element of its own"
_CLEARED_BEFORE = (
    "Take out the clearing in line {line}, and a barrier that was there for it. In its place, "
    'zero = ["{array}"] in the launch block clears `{array}` before the launch, as cudaMemset does in a program.'
)
_CLEAR_BEFORE = (
    "Each block clears `{array}`, also what others have stored by then: blocks do not wait for one another, and a "
    f"__syncthreads() is for those of one block. {_CLEARED_BEFORE}"
)
_STATIC = {
    True: "{words} makes of {array} one array in global memory, which all blocks share: {write}, and each block has "
    "its own.",
    False: "{words} makes of {array} one variable in global memory, which all threads of the grid share: {write}, and "
    "each block has its own. One that each thread is to have for itself is declared in the kernel without either.",
}
"""Of an array, and of a variable that is none."""
_OVERLAP = (
    "Blocks come to the same element. Each element of `{array}` is to be stored by one thread: does the index count "
    "the rows before its own, each of their whole length, and all that the blocks before have taken? Where blocks are "
    "to add to one element, use atomicAdd."
)
_EACH_BLOCK = (
    "The index has nothing of {lacking}, so that every block along it stores to the same elements, and one block's "
    "values stay. Where each has a part of a sum, add with atomicAdd(&{array}[…], …), to elements that are zero before "
    "the launch. Where each has elements of its own, {lacking} belongs in the index."
)
_EACH_THREAD = (
    "The index, `{index}`, has nothing of {lacking}: threads that differ in that alone have the same index. Where each "
    "has an element of its own, {lacking} belongs in the index{rows}."
)
_ROWS_BEFORE = ": let it count the rows before its own, each of their whole length"
_SAME_LINE = (
    "Both accesses are in this line, which one thread may execute before another. Where a step of a loop reads what "
    "the step before has stored, put a __syncthreads() at the end of each step, outside of any `if`. Where one element "
    "is read and another stored in the same step, read into a variable, put a __syncthreads() behind, then store."
)
_OF_LANES = " Among lanes of one warp a __syncwarp() is enough."
_STEPS = (
    "Lanes of a warp do not run in step by themselves, not in one line either. Where a thread adds what another has, "
    "let it read, wait, and store, with `{{ auto v = {read}; __syncwarp(); {to} += v; __syncwarp(); }}` in place of "
    "line {line}{likewise}. Or take such steps in a loop over the whole block, with a __syncthreads() at the end of "
    "each."
)
_STORED_TWICE = (
    "Nothing says whose value stays. Is it one element that both lines are meant to store? Then put a __syncthreads() "
    "between them. Else an index is wrong, which no barrier mends: compare the two."
)
_ALL_STORE_ONE = (
    "Both store in this line, and nothing says whose value stays. Let each thread store an element of its own, or let "
    "one thread store: no barrier stands between threads that come here together. Where one comes a step of a loop "
    "later, put a __syncthreads() at the end of each step."
)
_ALL_ATOMIC = (
    "Let every thread that changes the element do so with an atomic, or set it before the launch, with cudaMemset or "
    "with `zero` in a launch block."
)
_CLEARED_BESIDE = (
    "One block sets elements of `{array}` to 0 while others add to them, and __syncthreads() waits for threads of one "
    f"block alone. {_CLEARED_BEFORE}"
)
_DEVICE_SCOPE = (
    "Let both be for the device: atomicAdd in place of atomicAdd_block, cuda::thread_scope_device in place of "
    "cuda::thread_scope_block."
)
_SECOND_LAUNCH = (
    "Let blocks add with atomicAdd, or let a second launch (in a launch block a second [[launch]]) read what the first "
    "has stored: between launches everything is done."
)
_BARRIER_OR_ATOMIC = (
    "Put a __syncthreads() between storing and reading; where several threads add to one element, use atomicAdd, or "
    "add up in shared memory first."
)
_WAIT_FOR_COPY = (
    "Wait for its group (consumer_wait() of a cuda::pipeline, __pipeline_wait_prior, cp.async.wait_group) and then for "
    "the other threads; or let every thread wait for the phase of its mbarrier (wait(token) of a cuda::barrier, "
    "mbarrier.try_wait)."
)
_INIT_MBARRIER = (
    "Let one thread initialise the mbarrier (mbarrier.init, init(&barrier, count)), and put a __syncthreads() behind "
    "that."
)
_FREE_BEHIND_THE_LAST_READ = (
    "The copy may begin only when all who read this have done so. Where an mbarrier tells that a stage is free, let "
    "each reader arrive at it behind its last read, which for a wgmma is behind the wgmma.wait_group that covers it, "
    "and initialise it for the arrivals of all of them; else put a __syncthreads() in front of the copy."
)
_WAIT_FOR_FREE_STAGE = (
    "Let those who fill a stage wait until it is free, on an mbarrier of its own, before they arrive for its next "
    "use."
)
_REMEDIES_OF_PHASES: Mapping[PhaseFault, str] = {
    "absent": _INIT_MBARRIER,
    "overrun": (
        "The count at its initialisation is that of all arrivals of one phase: wait for each phase before arriving at "
        "the next."
    ),
    "refilled": _WAIT_FOR_FREE_STAGE,
    "in_use": (
        "Initialise each mbarrier once, in front of the __syncthreads() behind which it is used; it goes on from phase "
        "to phase by itself."
    ),
    "arrivals": (
        "The count at its initialisation is that of all arrivals of one phase. Where nothing has arrived, look at the "
        "parity: the first phase has 0, and it changes with every phase."
    ),
    "skipped": (
        f"{_WAIT_FOR_FREE_STAGE} A wait knows only whether the number of completed phases is even. Where it is such an "
        "mbarrier, more arrive at it for each use than it is initialised for: correct the one or the other."
    ),
    "bytes": (
        "Announce exactly the bytes of the phase's copies (expect_tx), all of them before the first can arrive: those "
        "of every box in full, also at the edges."
    ),
    "parity": (
        "The n-th wait for an mbarrier, counted from 0, is for parity n % 2; only a wait for a stage to become free, "
        "as it is at the start, begins with parity 1. In a ring, n is the step divided by the number of stages."
    ),
}
_PROXY_FENCE = (
    "Let every thread that writes what a bulk copy or a wgmma reads execute fence.proxy.async.shared::cta behind its "
    "writes, and put the barrier between that and the copy or the wgmma."
)
_ALIGN_BOX = (
    "A box begins at a multiple of 16 bytes of a row, or a GPU stops with an illegal instruction: take a first "
    "coordinate that is one, times the bytes of an element."
)
_WAIT_UNTIL_READ = (
    "Let the thread that issues the copy wait until that has read its source (cp.async.bulk.wait_group.read), and all "
    "threads for that one, before they write there anew."
)
_WAIT_BEFORE_END = (
    "Let the thread that issues the copy close its group (cp.async.bulk.commit_group) and execute "
    "cp.async.bulk.wait_group.read 0 before the block ends."
)
_GRID_CONSTANT = (
    "Declare the parameter `const __grid_constant__ CUtensorMap`: without that its address is that of a copy in local "
    "memory."
)
_FIELDS = (
    "Each of these fields counts 16 bytes, in 14 bits ((bytes & 0x3FFFF) >> 4): the start address from bit 0 on, the "
    "leading byte offset from bit 16 on, the stride byte offset from bit 32 on."
)
_FEWER_REGISTERS = (
    "Ask for fewer, or let other warpgroups give more back (setmaxnreg.dec): registers a thread, summed over the "
    "warpgroups, are at most their number times what ptxas gave a thread."
)
_WAIT_FOR_PHASE = "Let every thread that touches what the copy brings wait for the phase of its mbarrier."
_PLAIN_LOAD = (
    "Load it without __ldg() and `const … __restrict__`: the read-only cache need not see what the launch itself "
    "stores."
)
_CLUSTER_SYNC = (
    "Put a barrier of the cluster (cluster.sync()) between the accesses, or let the one wait for an mbarrier at which "
    "the other arrives."
)
_BEGUN = (
    "Begin with a barrier of the cluster, cluster.sync(), behind whatever the block initialises: only then have all of "
    "its blocks begun."
)
_STAY = (
    "Let every block wait until the others have done with its shared memory: end with a barrier of the cluster, "
    "cluster.sync(), behind the last access and the wait for the last copy."
)
_ALL_BLOCKS = (
    "Every thread of every block of the cluster has to arrive at its barrier, or to have left the kernel: move it out "
    "of the `if`."
)
_LATER_FETCH = "Fetch it in a later launch: a texture need not see what the launch itself stores."
_CREATE_TEXTURE = (
    "Create the object with cudaCreateTextureObject before the launch, pass the kernel what that gave, and destroy it "
    "only when no kernel uses it any more."
)
SAME_CHANGE = "What mends the first finding mends this one."
SAME_ARRAY = "It may follow from the first finding, of the same array: mend that, and grade again."
_ALL_LANES = "Let all lanes of the mask come here, and put the condition on what they do with the result."
_NAME_IT = (
    "The mask has to name every lane that comes here: 0xffffffff where all 32 lanes of a warp take part."
)
_ADD_ATOMICALLY = (
    "Several threads read the same element, add to it and store it back, so that additions are lost, and no barrier "
    "helps: add with atomicAdd(&{element}, …)."
)


_SET_ON_HOST = (
    "Set the array on the host before it is copied: malloc and new give memory that holds nothing yet."
)


def remedy(finding: Finding) -> str:
    """What would mend it, and what the index is made of that was not to be."""
    return f"{_remedy(finding)}{_there(finding)}"


def _there(finding: Finding) -> str:
    """The variables of an index, behind a remedy."""
    return f" There {', '.join(f'`{each}`' for each in finding.formed)}." if finding.formed else ""


def _remedy_of_trap(finding: Finding) -> str:
    if finding.own_atomic is None:
        return _COOPERATIVE if finding.instruction else TRAPS
    name, declared, function, line = finding.own_atomic
    return _OWN_ATOMIC.format(name=name, declared=declared, function=function, line=line)


def _remedy(finding: Finding) -> str:
    if finding.kind == "race":
        return _remedy_of_all_threads(finding) or _remedy_of_race(finding)
    if finding.no_texture or (finding.kind == "stored_read_only" and finding.instruction):
        return _CREATE_TEXTURE if finding.no_texture else _LATER_FETCH
    if finding.absence is not None or finding.scope == "cluster":
        return _remedy_of_cluster(finding)
    if finding.kind == "out_of_bounds":
        return bounds.remedy(finding)
    if finding.kind == "trap":
        return _remedy_of_trap(finding)
    if missing := _remedy_of_missing(finding):
        return missing
    if finding.kind == "misaligned" and finding.size is not None:
        return _remedy_of_alignment(finding, finding.size)
    if finding.phase is not None:
        return _REMEDIES_OF_PHASES[finding.phase.fault]
    other = finding.other
    reads = finding.kind == "unfinished_copy" and other is not None and other.action == "read"
    if finding.block_ends or reads:
        return _WAIT_BEFORE_END if finding.block_ends else _WAIT_UNTIL_READ
    if finding.kind == "absent_lanes" and other is not None and other.thread == finding.thread:
        return _NAME_IT
    if finding.kind in ("uninitialised_shared", "uninitialised_global"):
        return _remedy_of_unset(finding)
    named = finding.arrivals is not None and finding.arrivals.number
    return _COME_BY if named else _REMEDIES[finding.kind]


def _remedy_of_missing(finding: Finding) -> str:
    """Of threads that are missing, where the source tells why; "" where it does not."""
    known = (
        (finding.returned, _RETURNED if finding.kind == "barrier" else _RETURNED_UNSET),
        (finding.uneven_loop, _UNEVEN_LOOP),
        (finding.only_if, _ONLY_IF),
    )
    return next((said.format(line=line) for line, said in known if line is not None), "")


def _remedy_of_unset(finding: Finding) -> str:
    if finding.hollow is not None:
        return _SET_ON_HOST
    if finding.one_each is not None and len(finding.shape or ()) > 1:
        rows = (finding.shape or ())[0]
        several = TAKE_SEVERAL.format(
            times=rows // finding.one_each, axis="y", all=rows, threads=finding.one_each
        )
        return (
            f"The block has {finding.one_each} threads along y, `{finding.array}` has {rows} rows, and a thread stores "
            f"to one of them: {several}."
        )
    if finding.one_each is not None:
        elements = math.prod(finding.shape or ())
        said = _FEW_THREADS.format(threads=finding.one_each, array=finding.array, elements=elements)
        lines = " and ".join(f"line {line}" for line in finding.likewise)
        return f"{said} {_LIKEWISE.format(lines=lines)}" if lines else said
    if finding.halo is not None:
        threads = math.prod(finding.shape or ()) - 2 * finding.halo
        behind = finding.halo + threads
        return _HALO.format(
            array=finding.array, halo=finding.halo, threads=threads, last=behind - 1, behind=behind
        )
    if finding.kind != "uninitialised_shared":
        return _REMEDIES[finding.kind]
    also = "" if finding.synchronised else _AND_A_BARRIER
    if finding.from_end is not None:
        size, by = finding.from_end
        return _FROM_END.format(size=size, by=by, also=also)
    if finding.action == "atomic" and finding.array:
        many = math.prod(finding.shape or ()) > 1
        what = f"{'every element of ' if many else ''}`{finding.array}`"
        return _CLEAR.format(what=what, it="one" if many else "it", also=also)
    if finding.exchanged and len(finding.shape or ()) > 1:
        if finding.columns_of_rows is False:
            return _EXCHANGED.format(array=finding.array, goes_by=_AS_STORED, also=also)
        filling = _FILLING.format(line=finding.filling, array=finding.array) if finding.filling else ""
        why = f"{_CONDITION if finding.elsewhere else ''}{filling}" or _BELONGS
        goes_by = f"{_AS_TRANSPOSED}{why}{'' if finding.columns_of_rows else _OF_SQUARES}"
        return _EXCHANGED.format(array=finding.array, goes_by=goes_by, also="" if filling else also)
    tile = _TILE.format(array=finding.array) if len(finding.shape or ()) > 1 else ""
    return f"{tile}{_FILL.format(also=also)}"


def _remedy_of_cluster(finding: Finding) -> str:
    if finding.absence == "no_such_block":
        return bounds.IN_CLUSTER
    if finding.kind == "barrier":
        return _ALL_BLOCKS
    return _BEGUN if finding.absence == "not_begun" else _STAY


def _remedy_of_alignment(finding: Finding, size: int) -> str:
    """Of an access of so many bytes, to an array of a type that may be known."""
    if finding.instruction == TENSOR_COPY:
        return _ALIGN_BOX
    nbytes, elements = ELEMENTS.get(finding.dtype or "", (size, ""))
    if nbytes < size:
        when = f" {bounds.when_whole(finding)}" if finding.uneven_rows else ""
        return f"{_ALIGN_ROWS.format(size=size, many=size // nbytes, elements=elements)}{when}"
    return (
        f"An access of {size} bytes needs an address that is a multiple of {size}: take single elements where rows do "
        "not begin at one."
    )


def _remedy_of_race(finding: Finding) -> str:
    announces = finding.scope == "grid" and finding.blocks_wait and finding.action == "read"
    if finding.accumulates and not (announces and (finding.spins or finding.fences == "block")):
        name = finding.array or "sum"
        return _ADD_ATOMICALLY.format(element=name if is_variable(finding) else f"{name}[…]")
    if finding.other is not None and finding.other.by_copy:
        return _WAIT_FOR_PHASE
    if finding.scope == "cluster":
        return _CLUSTER_SYNC
    if finding.space != "global":
        if finding.instruction == BULK_COPY and finding.other is not None and finding.other.action == "read":
            return _FREE_BEHIND_THE_LAST_READ
        same_line = finding.other is not None and finding.other.place == finding.place
        if finding.other is not None and finding.action == finding.other.action == "write":
            return _ALL_STORE_ONE if same_line else _remedy_of_twice(finding)
        of_block = _SAME_LINE if same_line else _barrier_between(finding)
        alone = _SYNCWARP_ALONE.format(line=finding.only_if) if finding.only_if else f"{of_block}{_SYNCWARP}"
        of_lanes = _of_steps(finding) or f"{_SAME_LINE}{_OF_LANES}" if same_line else alone
        return of_lanes if finding.scope == "warp" else of_block
    if finding.of_block:
        return _DEVICE_SCOPE
    if announces:
        return _FENCES[finding.fences]
    if finding.other is not None and finding.other.action == "read":
        return _SECOND_LAUNCH if finding.scope == "grid" else _barrier_between(finding)
    if finding.action == "write":
        return _remedy_of_blocks(finding) if finding.scope == "grid" else _remedy_of_threads(finding)
    if finding.action == "atomic":
        beside = _CLEARED_BESIDE.format(array=finding.array, line=finding.clears)
        return beside if finding.clears else _ALL_ATOMIC
    return _SECOND_LAUNCH if finding.scope == "grid" else _BARRIER_OR_ATOMIC


def _remedy_of_all_threads(finding: Finding) -> str:
    """Of a variable that all threads share and that was to be a block's own; "" of any other."""
    if finding.declared is None:
        return ""
    words, inside, is_array = finding.declared
    write = "write" if inside else "declare it inside the kernel, with"
    return _STATIC[is_array].format(
        words=f"`{words}`",
        array=f"`{finding.array}`",
        write=f"{write} `__shared__` in place of `{words}`",
    )


def _of_steps(finding: Finding) -> str:
    """Of a step of a tree that stands by itself, and of others beside it; "" of another line."""
    lines = [line for _, line in finding.steps]
    if finding.place.line not in lines:
        return ""
    step, line = finding.steps[lines.index(finding.place.line)]
    to, read = step.split("+=")
    others = [str(other) for other in lines if other != line]
    likewise = (
        f", and likewise of {'lines' if len(others) > 1 else 'line'} {', '.join(others)}" if others else ""
    )
    return _STEPS.format(read=read.strip(), to=to.strip(), line=line, likewise=likewise)


def _remedy_of_twice(finding: Finding) -> str:
    """Of stores in two lines, the first of which may set elements to 0 for the other to add to."""
    other = finding.other or Access()
    clears_first = finding.clears == min(finding.place.line, other.place.line)
    return _barrier_between(finding) if clears_first and finding.in_turn else _STORED_TWICE


def _barrier_between(finding: Finding) -> str:
    """Which accesses a barrier is to stand between. In a loop, either may be the first."""
    other, array = finding.other or Access(), f"`{finding.array}`" if finding.array else "memory"
    if not finding.in_turn:
        return _SYNCTHREADS.format(array=array)
    upper, lower = sorted(
        ((finding.place.line, finding.action), (other.place.line, other.action)), key=lambda each: each[0]
    )
    done = "read it" if upper[1] == "read" else "set it to 0" if finding.clears == upper[0] else "written it"
    behind, before = finding.barrier_between or (upper[0], lower[0])
    return _BETWEEN.format(upper=behind, lower=before, does=VERBS[lower[1] or "read"], array=array, done=done)


def _remedy_of_blocks(finding: Finding) -> str:
    """Of blocks that store to one element, which may be all that the array has."""
    if finding.clears:
        return _CLEAR_BEFORE.format(array=finding.array, line=finding.clears)
    if finding.lacks_block and math.prod(finding.shape or ()) > 1:
        return _EACH_BLOCK.format(lacking=finding.lacks_block, array=finding.array)
    if math.prod(finding.shape or (1,)) > 1:
        return _OVERLAP.format(array=finding.array)
    return _ADD.format(own="" if finding.shape else _OWN)


def _remedy_of_threads(finding: Finding) -> str:
    """Of threads of a block that store to one element."""
    if not finding.lacks_thread:
        return _ADD_PARTS.format(array=finding.array) if finding.apart and finding.array else _ONE_STORE
    index, lacking = finding.lacks_thread
    rows = _ROWS_BEFORE if len(finding.shape or ()) > 1 and lacking == "threadIdx.y" else ""
    return _EACH_THREAD.format(index=index, lacking=lacking, rows=rows)


_REMEDIES: Mapping[Kind, str] = {
    "out_of_bounds": bounds.GUARD,
    "misaligned": ALIGN,
    "uninitialised_global": (
        "Set it before this launch: cudaMemset(…, 0, bytes) for zeros, in PyCUDA gpuarray.zeros in place of "
        "gpuarray.empty; or copy to it what it begins with."
    ),
    "unfinished_copy": _WAIT_FOR_COPY,
    "unfinished_product": (
        "Put wgmma.commit_group behind the wgmma, and in front of this line a wgmma.wait_group that covers its group."
    ),
    "unfenced_product": (
        "Put wgmma.fence in front of the first wgmma, and again wherever accumulators or operand A were written since."
    ),
    "uninitialised": (
        "Give every variable and every element of a local array a value before it is read; of an array without "
        "__shared__ each thread has its own, and sees nothing of what others write in theirs."
    ),
    "undefined_shuffle": (
        "Let every lane that is read take part in the shuffle, name it in the mask, and use the result only in lanes "
        "whose source is among them."
    ),
    "absent_lanes": _ALL_LANES,
    "stored_read_only": _PLAIN_LOAD,
    "barrier": REACH_BARRIERS,
    "mbarrier": _INIT_MBARRIER,
    "proxy_fence": _PROXY_FENCE,
    "absent_block": _STAY,
    "tensor_map": _GRID_CONSTANT,
    "descriptor": _FIELDS,
    "registers": _FEWER_REGISTERS,
    "assert": "The kernel's own assert() failed.",
}
"""Of every kind but races, where it depends on who meets where."""
