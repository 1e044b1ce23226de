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
    TOUCHED_READ,  # pointer to uint8 per sector: which of its words were loaded in this launch, a bit each
    TOUCHED_WRITE,  # likewise: which were stored
    TOUCHED_ATOMIC,  # likewise: which of its words an atomic updated
    TOUCHED_BYTES,  # pointer to uint32 per sector: which of its bytes stores narrower than a word have stored
    SHADOW_WRITES,  # pointers to the shadow of shared memory: an int64 a granule for the last write,
    SHADOW_READS,  # and one for the last read
    SHADOW_SHIFT,  # log2 of the bytes an entry stands for
    SHADOW_READERS,  # pointer to CLOCK at each warp's last read of a granule; 0 where all warps wait for all others
    CLOCK,  # grows with every barrier of the block, every __syncwarp and every block
    BLOCK_CLOCK,  # CLOCK when the block began
    BARRIER_CLOCK,  # CLOCK at the last barrier of the whole block
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
    LAUNCH_BUDGET,  # warp instructions that the launch's blocks may execute together, where they take no turns
    EXECUTED,  # warp instructions of those that are done
    BARRIER_FAULTS,  # how often a block did at a barrier what is forbidden there
    BARRIER_FAULT,  # the first time: what, which block, and the basic block behind the barrier
    BARRIER_FAULT_BLOCK,
    BARRIER_FAULT_ONE,
    BARRIER_FAULT_OTHER,  # SPLIT: the basic block behind another barrier; else FIELDs: number, arrived, expected
    FAILED_BLOCK,  # the block that spent its budget or trapped
    FAILED_WARP,
    UNDO,  # what the words of the arena held before the launch, where it may be undone; else 0
    CONFLICT,  # 1 where the launch has to be repeated with its accesses tracked (globalmem.py)
    ARENA_BYTES,  # of global memory, from GLOBAL_BASE on
    RECORDS,  # pointer to the last accesses of each granule of global memory, where they are tracked; else 0
    RECORD_SHIFT,  # log2 of the bytes of a granule
    LAUNCH_CLOCK,  # CLOCK before the launch
    SYNC_TABLE,  # pointer to what is published at each address (ordering.py); 0 where nothing can be
    VECTORS,  # pointer to vectors of uint32: a time for each warp of the grid
    VECTOR_LENGTH,  # 0 where blocks have no means to publish anything to each other
    VECTOR_MOST,  # how many vectors there is room for
    VECTOR_COUNT,  # how many were ever in use, and a stack of those that no longer are
    FREE_VECTORS,
    FREE_COUNT,
    LENIENT,  # 1 where there was no room for another vector: blocks are taken to know all of each other; or WITH_WARPS
    BLOCK_FENCES,  # how many fences the block has executed
    BLOCK_VECTOR,  # what the block has learnt of others up to its last barrier: a vector's number, 0 for none
    RESIDENT,  # the running block's place among those under way
    RESIDENTS,  # pointer to what HELD_SLOTS hold of each of them, as far as blocks take turns
    RESIDENT_COUNT,  # how many places there are
    LAST_SERIAL,  # BLOCK_SERIAL of the block that began last
    RANDOM,  # the state of the generator by which blocks take turns; 0 where they run to their end if they can
    DOUBTFUL,  # 1 where the last store to global memory has to be looked at by `track_stores`
    PROGRESS,  # grows with each atomic or tracked store that changes what memory holds
    LONGEST_WARP,  # the most instructions that a warp has executed
    CONSTANTS,  # pointer to the (first, last + 1) addresses of the module's constants
    CONSTANT_COUNT,
    LANE_CLOCKS,  # pointer to, for each lane and each other one of its warp, CLOCK before which it knows what that did
    SHARED_USED,  # the most granules of shared memory that a block has read or updated
    COPIES,  # copies by cp.async that warps of the block have under way
    INTERVAL,  # BARRIER_CLOCK of the interval between two barriers that the next two are about
    INTERVAL_READS,  # requests that have read shared memory in it
    INTERVAL_WRITES,  # those that have written there, or have read it beside copies
    READS_BESIDE_WRITES,  # requests that have read shared memory in an interval with writes
    PREVIOUS,  # pointer to what words of the arena held before the last strong store, where loads may miss it; else 0
    TRACE,  # pointer to what the accesses of one block are noted in (trace.py); 0 where none are
    CONTEXT_SLOTS,
) = range(95)

# What is a block's own, and is changed where another one has its turn.
HELD_SLOTS = (
    SHARED_HOST, LOCAL_HOST, WARP_STATES, ASYNC, SHADOW_WRITES, SHADOW_READS, SHADOW_READERS, LANE_CLOCKS,
    BLOCK_X, BLOCK_Y, BLOCK_Z, BLOCK_LINEAR, BLOCK_SERIAL, BLOCK_CLOCK, BARRIER_CLOCK, BUDGET, BLOCK_FENCES,
    BLOCK_VECTOR, RESIDENT, COPIES, INTERVAL, INTERVAL_READS, INTERVAL_WRITES,
)  # fmt: skip
HELD_BYTES = (len(HELD_SLOTS) + 1) * 8  # and whether there is a block

# -- site slots ---------------------------------------------------------------------------------------------------
(
    REQUESTS,  # warp instructions that accessed memory with at least one lane
    SECTORS,  # global and local: 32-byte sectors, summed over requests; shared: wavefronts
    GROUPS,  # shared: the fewest wavefronts the accesses could have taken
    ACCESS_LANES,  # lanes that accessed memory
    NEW_SECTORS,  # global loads: sectors that the block had not loaded before
    TURNS,  # shared atomics: lanes on the bank that has the most of them, summed over requests
    BOUND_LOW,  # the allocation the last access fell into
    BOUND_HIGH,
    FINDINGS,  # first slot of the findings: FINDING_SLOTS each
) = range(9)

# kinds of finding, in the order of their slots
(
    OUT_OF_BOUNDS, MISALIGNED, UNINITIALISED, RACE, UNFINISHED, ABSENT, STORED_READ_ONLY, UNWRITTEN_USED, ABSENT_USED,
) = range(9)  # fmt: skip
FINDING_KINDS = 9
# FINDING_THREAD is warp << WARP_SHIFT | lane, or SEVERAL. FINDING_OTHER says more about the kind: what a race is with
# (a record of global memory or an accessor of shared memory), the cp.async that has not arrived, an access's width.
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

UPDATED = 61  # the lane field after an atomic, or another strong store that another warp may wait for
IN_FLIGHT = 62  # the lane field while a cp.async has not arrived
NEVER = 1 << 38  # plus the block's clock, its clock: later than any barrier

# What a finding keeps of the other access to shared memory: the fields above without the clock, and whether it read.
OTHER_READ = 1 << ACCESSOR_BITS

# -- records of accesses to global memory -------------------------------------------------------------------------
# Of each granule four int64: its last plain store, its last atomic or other strong store, and the last two plain loads
# by different warps; each time << 35 | block << 11 | warp << 6 | lane, where the time is CLOCK - LAUNCH_CLOCK. 0: none.
R_STORE, R_STRONG, R_LOAD, R_EARLIER = range(4)
RECORD_BYTES = 32
RECORD_BLOCK, RECORD_TIME = 11, 35
BLOCK_NUMBERS = 1 << RECORD_TIME - RECORD_BLOCK  # block numbers are kept modulo this
RECORD_WARPS = 1 << RECORD_BLOCK - WARP_SHIFT
SEEN = 32  # with the lane of R_STRONG: some thread has seen what was stored
R_READ = -(1 << 63)  # with a record in a finding: it is a load's
MOST_TIME = (1 << 63 - RECORD_TIME) - 1  # where time does not go on

# -- what is published (ordering.py) ------------------------------------------------------------------------------
# An entry of the table: the address (0: free), who published last and when, the vector of times for the warps of
# other blocks (0: none), and times for those of the same block.
V_KEY, V_BLOCK, V_VERSION, V_VECTOR, V_WARPS = range(5)
SYNC_ENTRY = V_WARPS + LANES
SYNC_ENTRIES = 1 << 15
WITH_WARPS = 2  # LENIENT, where the table is full: warps of a block, too, are taken to know all of each other

# -- the trace of one block ---------------------------------------------------------------------------------------
# The block's number, how many entries there is room for, how many there would be; then an entry a warp instruction.
T_BLOCK, T_ROOM, T_COUNT, T_ENTRIES = range(4)
T_WARP, T_SPACE, T_KIND, T_WIDTH, T_MASK, T_ADDRESSES = range(6)
TRACE_ENTRY = T_ADDRESSES + LANES
IN_GLOBAL, IN_SHARED, IN_CONSTANT = range(3)  # T_SPACE

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
    W_SYNC_CLOCK,  # CLOCK at the warp's last __syncwarp of all lanes, fence or barrier of a part of the block
    W_SPIN,  # dispatches since the lanes were last together in a loop: a spin lock makes it grow
    W_TURN,  # the block that ran out of order last
    W_EXECUTED,  # instructions
    W_AT,  # the barriers at which lanes have arrived, a bit each
    W_ALIGNED,  # the waiting lanes whose barrier is one that all threads must come to at one place
    W_PASSED,  # lanes that have gone past a barrier at which others of the warp wait
    W_PASSED_AT,  # the basic block behind it
    W_TRUE,  # of the last barrier with a reduction: threads whose predicate held, and all threads
    W_THREADS,
    W_EXCHANGE,  # CLOCK at its last shuffle, vote or the like
    W_FENCE,  # CLOCK at the warp's last fence for the device, and CLOCK at its block's last barrier by then
    W_FENCE_BARRIER,
    W_BLOCK_FENCE,  # the same of its last fence for the block or wider
    W_BLOCK_FENCE_BARRIER,
    W_VECTOR,  # what it has learnt of other blocks since the last barrier: a vector's number, 0 for none
    W_ACQUIRED,  # the address that it acquired last, and which version
    W_ACQUIRED_VERSION,
    W_PATIENCE,  # accesses that other blocks see which it may still make before another block's turn
    W_KNOWN,  # for each warp of the block, CLOCK before which this one knows all that it did
) = range(22)
BARRIERS = 16
B_WAITING, B_ARRIVED, B_ARRIVED_AT, B_EXPECTED, B_TRUE = range(5)  # B_ARRIVED_AT: CLOCK then
BARRIER_SLOTS = 5
W_BARRIERS = W_KNOWN + LANES  # BARRIERS times BARRIER_SLOTS
W_MASKS = W_BARRIERS + BARRIERS * BARRIER_SLOTS
# BLOCKS pending masks, then BLOCKS masks that wait at a barrier (int64 each), then registers

# how lanes arrive at a barrier, a bit each: see W_ALIGNED; without waiting
ALIGNED, ARRIVES = 1, 2
# what is forbidden at barriers
SPLIT, BYPASSED, MISCOUNTED, DEADLOCKED_AT = range(4)
FIELD = (1 << 20) - 1

# How a site accesses memory. Strong accesses are volatile, relaxed, acquire or release; a REDUCTION is an atomic whose
# result nobody reads; READ_ONLY loads go through the cache that does not see stores (ld.global.nc).
LOAD, STORE, ATOMIC, REDUCTION, STRONG_STORE, STRONG_LOAD, READ_ONLY = range(7)

# atomic operations; ATOM_ADD_FTZ: where subnormals are flushed
(
    ATOM_ADD, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_EXCH, ATOM_CAS, ATOM_INC, ATOM_DEC, ATOM_MIN_U, ATOM_MAX_U,
    ATOM_MIN_S, ATOM_MAX_S, ATOM_ADD_F, ATOM_ADD_FTZ,
) = range(14)  # fmt: skip

# operand types of Tensor Core products
OPERAND_F16, OPERAND_BF16, OPERAND_TF32 = range(3)

# what the kernel function returns, and W_STATUS; a launch is STARVED whose blocks all wait for one that cannot begin
RUNNING, WAITING, DONE, BUDGET_SPENT, LAUNCH_BUDGET_SPENT, TRAPPED, DEADLOCKED, STARVED = range(8)
