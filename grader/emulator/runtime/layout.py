"""Where everything lies: address windows, and the slots of the structures that native code shares.

A *context* is what one worker thread needs to run blocks, as an array of int64 slots. A *site* is one memory
instruction of a kernel, with its counters and findings. A *warp* is the state of a suspended warp. Slots are
named here and nowhere else.
"""

from __future__ import annotations

LANES = 32
FULL = 0xFFFFFFFF

# Generic address windows. Global memory is one arena; the others are small and start at fixed places.
SHARED_WINDOW = 1 << 32
LOCAL_WINDOW = 2 << 32
PARAM_WINDOW = 3 << 32
WINDOW_BYTES = 1 << 32
GLOBAL_BASE = 0x7000_0000_0000

# -- context slots ------------------------------------------------------------------------------------------------
(
    HOST_DELTA,  # host address minus device address of the global arena
    ALLOCATIONS,  # pointer to sorted (first, last + 1) address pairs of live allocations
    ALLOCATION_COUNT,
    SHARED_HOST,  # host address of the running block's shared memory
    SHARED_BYTES,
    LOCAL_HOST,  # host address of local memory: threads of the block one after the other
    LOCAL_BYTES,  # per thread
    PARAM_HOST,
    PARAM_BYTES,
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    GRID_X,
    GRID_Y,
    GRID_Z,
    BLOCK_DIM_X,
    BLOCK_DIM_Y,
    BLOCK_DIM_Z,
    BLOCK_LINEAR,  # blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)
    THREADS,  # per block
    WARPS,  # per block
    WARP,  # the running warp's index in its block
    TIDS,  # pointer to int32 [warp][3][32]: tid.x, tid.y, tid.z of each lane
    STAMPS,  # pointer to uint32 per 32-byte sector of the arena: serial of the last block that loaded it
    BLOCK_SERIAL,
    TOUCHED_READ,  # pointer to uint8 per sector: loaded in this launch
    TOUCHED_WRITE,  # likewise: which of its words were stored, a bit each
    SHADOW_WRITES,  # pointers to the shadow of shared memory: an int64 a granule for the last write,
    SHADOW_READS,  # and one for the last read
    SHADOW_SHIFT,  # log2 of the bytes an entry stands for
    CLOCK,  # grows with every barrier of the block, every __syncwarp and every block
    BLOCK_CLOCK,  # CLOCK when the block began
    BARRIER_CLOCK,  # CLOCK at the block's last barrier
    PATTERNS_GLOBAL,  # pointer to the memo of address patterns (PATTERN_ENTRY int64 each)
    PATTERNS_SHARED,
    SITES,  # pointer to this worker's sites
    BLOCK_COUNTS,  # pointer to int64 [basic block][2]: executions, active lanes
    LANE_COUNTS,  # pointer to int64 per guarded instruction: lanes whose guard held
    BUDGET,  # warp instructions the block may still execute
    WARP_STATES,  # pointer to the states of the block's warps
    WARP_BYTES,  # size of one state
    BLOCKS,  # how many basic blocks the kernel has
    SM_COUNT,
    ASYNC,  # pointer to the warps' queues of cp.async, ASYNC_WARP_BYTES each; 0 where the kernel has none
    SYMBOLS,  # pointer to the addresses of the global variables the kernel names
    HOST_CALL,  # address of the callback behind printf and assert: int64 f(int64 function, int64 values, int64 mask)
    BLOCK_BUDGET,  # what BUDGET is set to when a block begins
    BARRIER_FAULTS,  # how often a block did at a barrier what is forbidden there
    BARRIER_FAULT,  # the first time: what, which block, and the basic block behind the barrier
    BARRIER_FAULT_BLOCK,
    BARRIER_FAULT_ONE,
    BARRIER_FAULT_OTHER,  # SPLIT: the basic block behind another barrier; else FIELDs: number, arrived, expected
    FAILED_BLOCK,  # the block that spent its budget or trapped
    FAILED_WARP,
    LAST_WRITERS,  # pointer to uint32 per word of the arena: its last writer; holds where TOUCHED_WRITE says so
    FENCES,  # pointer to int64 per block: its fences so far; 0 where blocks have no means to wait for each other
    WARPS_WAIT,  # 1 where warps of a block may wait for each other by other means than barriers
    DOUBTFUL,  # 1 where the last COMPARED store has to be looked at by `compare_stores`
    CONSTANTS,  # pointer to the (first, last + 1) addresses of the module's constants
    CONSTANT_COUNT,
    CONTEXT_SLOTS,
) = range(61)

# -- site slots ---------------------------------------------------------------------------------------------------
(
    REQUESTS,  # warp instructions that accessed memory with at least one lane
    SECTORS,  # global and local: 32-byte sectors, summed over requests; shared: wavefronts
    GROUPS,  # shared: the fewest wavefronts the accesses could have taken
    ACCESS_LANES,  # lanes that accessed memory
    NEW_SECTORS,  # global loads: sectors that the block had not loaded before
    BOUND_LOW,  # the allocation the last access fell into
    BOUND_HIGH,
    FINDINGS,  # first slot of the findings: FINDING_SLOTS each
) = range(8)

# kinds of finding, in the order of their slots
OUT_OF_BOUNDS, MISALIGNED, UNINITIALISED, RACE, UNFINISHED, ABSENT, UNWRITTEN_USED, ABSENT_USED = range(8)
FINDING_KINDS = 8
# FINDING_THREAD is warp << WARP_SHIFT | lane, or SEVERAL. FINDING_OTHER says more about the kind: what a race is with
# (a last writer, or an accessor of shared memory), the cp.async that has not arrived, the width of an access.
FINDING_COUNT, FINDING_BLOCK, FINDING_THREAD, FINDING_ADDRESS, FINDING_OTHER = range(5)
FINDING_SLOTS = 5
SITE_SLOTS = (FINDINGS + FINDING_KINDS * FINDING_SLOTS + 7) // 8 * 8  # whole cache lines

# -- address patterns -----------------------------------------------------------------------------------------------
# Lanes of a warp mostly access memory in the same shape again and again, only elsewhere. The shape (lane
# offsets from the first active lane, mask, width, phase) is looked up in a table with what follows from it.
(
    P_MASK,
    P_WIDTH,
    P_PHASE,  # global: the first address modulo 32
    P_LOWEST,  # smallest and largest lane offset
    P_HIGHEST,
    P_ALIGNED,  # 1 where all offsets are multiples of the width
    P_SECTORS,  # global: sectors; shared: wavefronts
    P_GROUPS,
    P_ITEMS,  # how many entries of the item list are valid
    P_RUN,  # shared: 1 where the lanes' offsets are one run without gaps, in the order of the lanes
    P_OFFSETS,  # 32 lane offsets
) = range(11)
P_ITEM_OFFSETS = P_OFFSETS + LANES  # global: sector numbers; shared: distinct lane offsets in bytes
P_ITEM_LANES = P_ITEM_OFFSETS + LANES  # shared: the lane that has the offset, or SEVERAL
P_TOGETHER = P_RUN  # global: 1 where two lanes have one address
P_ITEM_WORDS = P_ITEM_LANES  # global: which of the sector's eight words, a bit each
PATTERN_ENTRY = P_ITEM_LANES + LANES
PATTERN_TABLE = 256  # entries; a power of two

SEVERAL = 33  # more than one lane of the warp
STORE_PHASE = 4  # shared: added to the phase of a store

# -- shadow of shared memory ------------------------------------------------------------------------------------------
# An int64 for the last write and one for the last read of a granule, each clock << 24 | site << 12 | warp << 6 | lane.
WARP_SHIFT, SITE_SHIFT, ACCESSOR_BITS = 6, 12, 24
LANE_FIELD = (1 << WARP_SHIFT) - 1
ANY_WARP = (1 << SITE_SHIFT - WARP_SHIFT) - 1  # the warp field when several warps have read
NO_SITE = (
    1 << ACCESSOR_BITS - SITE_SHIFT
) - 1  # the site field of sites with higher numbers, and where none is known
NO_WRITE = NO_SITE << SITE_SHIFT  # all fields below the clock, of a write that never was

IN_FLIGHT = 62  # the lane field while a cp.async has not arrived
NEVER = 1 << 38  # plus the block's clock, its clock: later than any barrier

# What a finding keeps of the other access to shared memory: the fields above without the clock, and whether it read.
OTHER_READ = 1 << ACCESSOR_BITS

# -- last writers of words of global memory ---------------------------------------------------------------------------
# block << 14 | epoch << 5 | warp. The epoch is how many barriers the block had passed, or how many fences it had
# executed where blocks may wait for each other.
WRITER_EPOCH, WRITER_BLOCK = 5, 14
BLOCK_NUMBERS = 1 << 32 - WRITER_BLOCK  # block numbers are kept modulo this
MOST_EPOCHS = (1 << WRITER_BLOCK - WRITER_EPOCH) - 1  # where they are not counted any further
NO_WRITER = 0xFFFFFFFF  # the last store was an atomic, volatile, or narrower than a word

# -- queues of cp.async -------------------------------------------------------------------------------------------
# A queue: the numbers of its first and next entry, how many groups were committed, then a ring of entries.
Q_FIRST, Q_NEXT, Q_GROUPS, Q_ENTRIES = range(4)
E_GROUP, E_WIDTH, E_LANES, E_SITE, E_DESTINATIONS = range(5)
E_SOURCES = E_DESTINATIONS + LANES
E_SIZES = E_SOURCES + LANES
ENTRY_BYTES = (E_SIZES + LANES) * 8
ASYNC_QUEUE = 64  # instructions a warp may have under way; the oldest arrives early when there are more
ASYNC_WARP_BYTES = Q_ENTRIES * 8 + ASYNC_QUEUE * ENTRY_BYTES

# -- warp state -------------------------------------------------------------------------------------------------------
(
    W_STATUS,
    W_LIVE,  # lanes that have not exited
    W_SYNC_CLOCK,  # CLOCK at the warp's last barrier or __syncwarp
    W_SPIN,  # dispatches since the lanes were last together in a loop: a spin lock makes it grow
    W_TURN,  # the block that ran out of order last
    W_AT,  # the barriers at which lanes have arrived, a bit each
    W_ALIGNED,  # the waiting lanes whose barrier is one that all threads must come to at one place
    W_PASSED,  # lanes that have gone past a barrier at which others of the warp wait
    W_PASSED_AT,  # the basic block behind it
    W_TRUE,  # of the last barrier with a reduction: threads whose predicate held, and all threads
    W_THREADS,
    W_BARRIERS,  # BARRIERS times BARRIER_SLOTS
) = range(12)
BARRIERS = 16
B_WAITING, B_ARRIVED, B_EXPECTED, B_TRUE = range(4)
BARRIER_SLOTS = 4
W_MASKS = W_BARRIERS + BARRIERS * BARRIER_SLOTS
# BLOCKS pending masks, then BLOCKS masks that wait at a barrier (int64 each), then registers

# how lanes arrive at a barrier, a bit each: see W_ALIGNED; without waiting
ALIGNED, ARRIVES = 1, 2
# what is forbidden at barriers
SPLIT, BYPASSED, MISCOUNTED, DEADLOCKED_AT = range(4)
FIELD = (1 << 20) - 1

# how a site accesses memory; STRONG is a store that is volatile, relaxed or a release, COMPARED a plain one to global
# memory whose values are there for `compare_stores`
LOAD, STORE, ATOMIC, STRONG, COMPARED = range(5)

# atomic operations
(
    ATOM_ADD, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_EXCH, ATOM_CAS, ATOM_INC, ATOM_DEC, ATOM_MIN_U, ATOM_MAX_U,
    ATOM_MIN_S, ATOM_MAX_S, ATOM_ADD_F,
) = range(13)  # fmt: skip

# operand types of Tensor Core products
OPERAND_F16, OPERAND_BF16, OPERAND_TF32 = range(3)

# what the kernel function returns, and W_STATUS
RUNNING, WAITING, DONE, BUDGET_SPENT, TRAPPED, DEADLOCKED = range(6)
