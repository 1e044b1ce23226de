"""Where everything lies: address windows, and the slots of the structures that native code shares.

A *context* is what one worker thread needs to run blocks, as an array of int64 slots. A *site* is one memory
instruction of a kernel, with its counters and findings. A *warp* is the state of a suspended warp. Slots are
named here and nowhere else.
"""

from __future__ import annotations

LANES = 32
FULL = 0xFFFFFFFF

SHORT_TURN = 1 << 10
"""Warp instructions of a turn where blocks may wait for each other; one with nothing to do counts as many, too."""

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
    STAMPS,  # pointer to uint64 per 32-byte sector of the arena: who loaded it last, and when (below)
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
    LAUNCHED_AT,  # nanoseconds since 1970
    ASYNC,  # pointer to the warps' queues of cp.async, ASYNC_WARP_BYTES each; 0 where the kernel has none
    SYMBOLS,  # pointer to the addresses of the global variables the kernel names
    HOST_CALL,  # address of the callback behind printf and the like (machine/host.py): below CALL_AT, which it is
    BLOCK_BUDGET,  # what BUDGET is set to when a block begins
    LAUNCH_BUDGET,  # warp instructions that the launch's blocks may execute together, where they take no turns
    EXECUTED,  # warp instructions of those that are done
    STORED_AGAIN,  # granules that held what was stored, by another block's store that nothing orders, where tracked
    MOST_STORED_AGAIN,  # of a launch
    BARRIER_FAULTS,  # how often a block did at a barrier what is forbidden there
    BARRIER_FAULT,  # the first time: what, which block, and the basic block behind the barrier
    BARRIER_FAULT_BLOCK,
    BARRIER_FAULT_ONE,
    BARRIER_FAULT_OTHER,  # SPLIT: the basic block behind another barrier; else FIELDs: number, arrived, expected
    FAILED_BLOCK,  # the block that spent its budget or trapped
    FAILED_WARP,
    UNDO,  # what the words of the arena held before the launch, where it may be undone; else 0
    CONFLICT,  # 1 where the launch has to be repeated with its accesses tracked (globalmem.py)
    OWNERS,  # pointer to int64 per sector: who accesses it (below); 0 where nobody updates anything in place
    AGAIN,  # 1 where a word was stored that had been stored before, and there are owners
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
    WARP_TURNS,  # in which order the warps of a block take their turns: one of those below
    RANDOM,  # the state of the generator by which blocks take turns; 0 where they run to their end if they can
    DOUBTFUL,  # where the values of a store matter that is about to be done: DOUBT_GLOBAL, DOUBT_SHARED, a bit each
    PROGRESS,  # of a launch: grows with each atomic or tracked store that changes what memory holds
    ADVANCED,  # of a launch: grows as warps give way where they wait for nobody
    LONGEST_WARP,  # the most instructions that a warp has executed
    LONGEST_BLOCK,  # the most that all warps of a block have executed together
    CONSTANTS,  # pointer to the (first, last + 1) addresses of the module's constants
    CONSTANT_COUNT,
    LANE_CLOCKS,  # pointer to, for each lane and each other one of its warp, CLOCK before which it knows what that did
    SHARED_USED,  # the most granules of shared memory that a block has read or updated
    COPIES,  # copies by cp.async and bulk copies that the block has under way
    RESERVED_BYTES,  # of shared memory from its beginning that hold zeros when a block begins; mostly none
    GRID_WORKSPACE,  # address of what cooperative groups synchronise a grid by; 0 in other launches
    INTERVAL_READS,  # requests that have read shared memory since the whole block has met, at whatever barrier
    INTERVAL_WRITES,  # those that have written there, or have read it beside copies
    READS_BESIDE_WRITES,  # requests that have read shared memory in an interval with writes
    BULK_LOADS,  # bulk copies to shared memory that the block has asked for
    BULK_READS,  # requests that have read shared memory in a block with such copies
    BULK_BESIDE,  # those of them while copies were under way
    BULK_BESIDE_READS,  # bulk copies that they go on beside (shared_use.py)
    COPIES_BESIDE_READS,  # requests by cp.async that their warp's reads of shared memory go on beside (shared_use.py)
    PREVIOUS,  # pointer to what words of the arena held before the last strong store, where loads may miss it; else 0
    TRACE,  # pointer to what the accesses of one block are noted in (trace.py); 0 where none are
    TRANSACTIONS,  # pointer to the block's mbarriers and bulk copies; 0 where the kernel has none
    MBARRIER_ENTRY,  # bytes of an mbarrier's entry there
    KNOWN_AT,  # where in a warp's state it has what it knows of others, in bytes from its beginning: W_KNOWN or behind
    KNOWN_COUNT,  # of how many others
    SHADOW_VISITORS,  # pointer to a granule's last read by each other block of the cluster; 0 where there are none
    CLUSTER_SIZE,  # blocks of a cluster, and how many they are in each direction; 1 where there are none
    CLUSTER_X,
    CLUSTER_Y,
    CLUSTER_Z,
    RANK,  # the running block's in its cluster
    HERE,  # the rank of the block whose shared memory stands in the slots for it: the running one's, or a peer's
    CLUSTER,  # pointer to what the blocks of the running cluster share; 0 where there are none
    NO_ROOM,  # what a block had too many of (MANY_COPIES …); 0: of nothing. The launch is refused
    REGISTERS,  # that a thread begins with, where the kernel moves them between warps and the number is known; else 0
    UNDEFINED_LEFT,  # 1 where the block has stored to memory what nobody has defined (spaces/undefined.py)
    LOCAL_MARKS,  # eight marks of local memory as a block finds them (spaces/undefined.py); 0: all are written
    LOADED,  # sectors that blocks have loaded, one for each request: the time by which sectors are stamped
    FIRST_LOADED,  # sectors that a block has loaded, each once, summed over blocks
    BLOCK_LOADED,  # those that the running block has loaded
    MOST_LOADED,  # the most that a block has
    LOADED_BEFORE_BARRIER,  # LOADED at the last barrier of the whole block
    LOADED_ASIDE,  # those of LOADED that are on no path of loads (races/paths.py)
    LOAD_PATH,  # the longest path of loads of each block (races/paths.py), in sectors, summed over blocks
    KEPT,  # so many sectors later the L1 cache no longer has one: the block's share of it
    WRITTEN,  # pointer to uint8 per sector: which of its words were ever written, a bit each; 0 where all were
    ORIGINS,  # pointer to where the launch's first infinity and first NaN are noted; watched code alone has it
    WARP_SLOTS,  # of a multiprocessor
    MULTIPROCESSORS,  # of SM_COUNT, those that hold blocks of the launch
    CONTEXT_SLOTS,
) = range(137)

FROM_FIRST, FROM_LAST, EVENS_FIRST = range(3)

UNWRITTEN = (
    0x7FD5B9E1  # a word that has no value: of malloc's, on the host as well (runtime.cpp), and discarded ones
)
UNWRITTEN_MARKS = 0x0101_0101_0101_0101  # LOCAL_MARKS where each byte counts as unwritten, the first origin

# What is a block's own, and is changed where another one has its turn.
HELD_SLOTS = (
    SHARED_HOST, LOCAL_HOST, WARP_STATES, ASYNC, SHADOW_WRITES, SHADOW_READS, SHADOW_READERS, LANE_CLOCKS,
    BLOCK_X, BLOCK_Y, BLOCK_Z, BLOCK_LINEAR, BLOCK_SERIAL, BLOCK_CLOCK, BARRIER_CLOCK, BUDGET, BLOCK_FENCES,
    BLOCK_VECTOR, RESIDENT, COPIES, INTERVAL_READS, INTERVAL_WRITES, BULK_LOADS,
    BULK_READS, BULK_BESIDE, TRANSACTIONS, RANK, HERE, CLUSTER,
    SHADOW_VISITORS, UNDEFINED_LEFT, LOADED_BEFORE_BARRIER, BLOCK_LOADED,
)  # fmt: skip
HELD_BYTES = (len(HELD_SLOTS) + 1) * 8  # and whether there is a block
NO_BLOCK, TAKEN, LEFT = range(3)  # LEFT: it has ended, and others of its cluster have not
# Of these what stands in for a peer's shared memory, while a block accesses that: their places among HELD_SLOTS.
VISITED = tuple(
    HELD_SLOTS.index(slot)
    for slot in (SHARED_HOST, SHADOW_WRITES, SHADOW_READS, SHADOW_READERS, SHADOW_VISITORS, BLOCK_CLOCK, ASYNC, COPIES,
                 TRANSACTIONS, HERE)
)  # fmt: skip

# A stamp: the serial of the block, above STAMP_SERIAL; its warp; and the lower STAMP_TIME bits of LOADED.
STAMP_TIME = 26
STAMP_SERIAL = 32

# An owner, who was the first to load or store in a sector: the block plus 1, the warp, and which of its lanes accesses
# which bytes there, a share (patterns.py). Flags below: SHARED, others do so too, or it is not known which lanes do;
# STORED_TWICE, one of the words was.
SHARED, STORED_TWICE = 1, 2
OWNER_SHARE, OWNER_WARP, OWNER_BLOCK = 2, 12, 17
ALONE = 512  # a share: plus the lane that has the sector to itself

# What ORIGINS points to: two notes of ORIGIN_SLOTS. ORIGIN_INSTRUCTION: its place in plan.watched, plus 1; 0: none yet.
FIRST_INFINITY, FIRST_NAN = range(2)
ORIGIN_INSTRUCTION, ORIGIN_BLOCK, ORIGIN_THREAD, ORIGIN_OPERANDS = range(4)
ORIGIN_SLOTS = ORIGIN_OPERANDS + 3  # the operands as doubles

# -- clusters -----------------------------------------------------------------------------------------------------
# An address in the shared memory of the block of a rank: (rank + 1) << RANK_AT | offset. Without a rank it is the own.
RANK_AT = 24
RANK_SHIFT = 6  # a warp of a cluster counts as rank << RANK_SHIFT | warp
RANK_WARPS = 1 << RANK_SHIFT
MOST_BLOCKS = 16  # of a cluster
MOST_RANKS = 255  # that an address of 32 bits can name
# What the blocks of a cluster share: from K_NOW on vectors of KNOWN_COUNT times, of what those know that have arrived
# at the barrier in this phase, in the last phase, and of what strong accesses to shared memory have published; then
# for each rank and each warp its last VISIT to the shared memory of the block of that rank.
K_NOW = 0
VISIT_CLOCK, VISIT_SITE, VISIT_LANE, VISIT_ADDRESS = range(4)
VISIT_SLOTS = 4

# -- site slots ---------------------------------------------------------------------------------------------------
(
    REQUESTS,  # warp instructions that accessed memory with at least one lane
    # global and local: 32-byte sectors, summed over requests; constant: addresses; shared: wavefronts; nanosleep:
    SECTORS,  # nanoseconds
    # global: wavefronts of L1's data; constant: 32-byte sectors; shared: the fewest wavefronts the accesses could have
    GROUPS,  # taken
    LINES,  # global: 128-byte lines, summed over requests
    ACCESS_LANES,  # lanes that accessed memory
    NEW_SECTORS,  # global loads: sectors that the block had not loaded before, or that the L1 cache has lost since
    TURNS,  # shared atomics: lanes on the bank that has the most, summed over requests; cp.async: its bank conflicts
    PEER_REQUESTS,  # warp instructions with at least one lane in the shared memory of another block of the cluster
    PEERS_ALONE,  # those of them with no lane anywhere else
    PEER_SECTORS,  # sectors of those lanes; of a multicast, those that blocks beyond one get
    PEER_EXCESS,  # sectors beyond those that the lanes' bytes would fill
    BOUND_LOW,  # the allocation the last access fell into
    BOUND_HIGH,
    BLOCK_SCOPE,  # 1 where it is an atomic, or another strong access, for threads of one block alone
    FINDINGS,  # first slot of the findings: FINDING_SLOTS each
) = range(15)

# kinds of finding, in the order of their slots
(
    OUT_OF_BOUNDS, MISALIGNED, UNINITIALISED, RACE, UNFINISHED, ABSENT, STORED_READ_ONLY, UNWRITTEN_USED, ABSENT_USED,
    UNFINISHED_PRODUCT, UNFENCED_PRODUCT,
) = range(11)  # fmt: skip
# of the asynchronous world: no mbarrier there, too many arrivals at one, a phase that never completes for want of
# arrivals (SKIPPED: after phases that nobody waited for), a phase whose bytes are other than it expects, what a copy
# reads behind no fence between the proxies
NO_MBARRIER, OVERRUN, FEW_ARRIVALS, SKIPPED, OTHER_BYTES, UNFENCED = range(11, 17)
# of clusters: the block whose shared memory is accessed may not have begun, or may have ended; a barrier that never
# opens
NOT_BEGUN, ENDED, APART = range(17, 20)
# a wait for the parity of a phase that is over, an arrival at a phase whose copies are still under way, an mbarrier
# that is initialised in the middle of a phase, a box to store that begins in front of its tensor
WRONG_PARITY, REFILLED, IN_USE, BEFORE_TENSOR = range(20, 24)
# a block that ends while a copy may still read its shared memory, a tensor map in local memory, more registers than the
# block has, a descriptor of a wgmma that leads out of shared memory
UNREAD, LOCAL_MAP, MANY_REGISTERS, BAD_DESCRIPTOR = range(24, 28)
# a read of global memory that nobody has written
NEVER_WRITTEN = 28
FINDING_KINDS = 29
# What is known of a phase, in FINDING_OTHER: its number, what it expects, what has come; of WRONG_PARITY the number of
# the phase waited for + 1. Above INIT_AT in FINDING_ADDRESS: M_INIT.
PHASE_FIELD, INIT_AT = 21, 32
# FINDING_THREAD is warp << WARP_SHIFT | lane, or SEVERAL. FINDING_OTHER says more about the kind: what a race is with
# (a record of global memory or an accessor of shared memory), the cp.async that has not arrived, an access's width.
# Of UNINITIALISED it is where the nearest granules are that have been written, in bytes + 1, 0 for none: below
# STORED_BEFORE the next one behind the address, above that the last one before it.
STORED_BEFORE = 32
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
    P_LINES,  # global: lines, by where in its line the first sector lies: 8 bits each, 0 until somebody asks
    P_ITEMS,  # how many entries of the item list are valid
    P_RUN,  # shared: 1 where the lanes' offsets are one run without gaps, in the order of the lanes
    P_OFFSETS,  # 32 lane offsets
) = range(12)
P_ITEM_OFFSETS = P_OFFSETS + LANES  # global: sector numbers; shared: distinct lane offsets in bytes
P_ITEM_LANES = P_ITEM_OFFSETS + LANES  # shared: the lane that has the offset, or SEVERAL
P_TOGETHER = P_RUN  # global: 1 where two lanes have one address
P_ITEM_WORDS = P_ITEM_LANES  # global: which of the sector's eight words, a bit each
P_ITEM_SHARES = (
    P_ITEM_LANES + LANES
)  # global: which lane accesses which bytes of the sector (patterns.py), or -1
PATTERN_ENTRY = P_ITEM_SHARES + LANES
PATTERN_TABLE = 256  # entries; a power of two

SEVERAL = 33  # more than one lane of the warp
STORE_PHASE = 4  # shared: added to the phase of a store

# -- shadow of shared memory ------------------------------------------------------------------------------------------
# An int64 for the last write and one for the last read of a granule, each clock << 28 | site << 16 | warp << 6 | lane,
# where the warps of a cluster are told apart.
WARP_SHIFT, SITE_SHIFT, ACCESSOR_BITS = 6, 16, 28
LANE_FIELD = (1 << WARP_SHIFT) - 1
ANY_WARP = (1 << SITE_SHIFT - WARP_SHIFT) - 1  # the warp field when several warps have read
NO_SITE = (
    1 << ACCESSOR_BITS - SITE_SHIFT
) - 1  # the site field of sites with higher numbers, and where none is known
NO_WRITE = NO_SITE << SITE_SHIFT | LANE_FIELD  # all fields below the clock, of a write that never was

COMBINED = 60  # the lane field after an atomic
UPDATED = 61  # the same after another strong store that another warp may wait for
IN_FLIGHT = 62  # the lane field while a cp.async has not arrived
NEVER = 1 << 34  # plus the block's clock, its clock: later than any barrier
LATE = 1 << 33  # where CLOCK begins anew with the next launch

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
OF_BLOCK = -(1 << 63)  # with R_STRONG: of BLOCK_SCOPE
SCOPED = SEEN  # with such a record in a finding: it, or the access there, is of BLOCK_SCOPE
MOST_TIME = (1 << 63 - RECORD_TIME) - 1  # where time does not go on

# -- what is published (ordering.py) ------------------------------------------------------------------------------
# An entry of the table: the address (0: free), who published last and when, the vector of times for the warps of
# other blocks (0: none), its path of loads, and times for those of the same block.
V_KEY, V_BLOCK, V_VERSION, V_VECTOR, V_PATH, V_WARPS = range(6)
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
# A queue: the numbers of its first and next entry, how many groups were committed, how many requests of the warp have
# read shared memory (Q_READS), how many of them while it had copies under way, how many copies have arrived and are
# under way; then a ring of entries. E_COPIES: whether some lane copies anything, and does not only write zeros.
Q_FIRST, Q_NEXT, Q_GROUPS, Q_READS, Q_BESIDE, Q_DONE, Q_UNDER_WAY, Q_ENTRIES = range(8)
E_GROUP, E_WIDTH, E_LANES, E_SITE, E_COPIES, E_DESTINATIONS = range(6)
E_SOURCES = E_DESTINATIONS + LANES
E_SIZES = E_SOURCES + LANES
ENTRY_BYTES = (E_SIZES + LANES) * 8
ASYNC_QUEUE = 64  # instructions a warp may have under way; the oldest arrives early when there are more
ASYNC_WARP_BYTES = Q_ENTRIES * 8 + ASYNC_QUEUE * ENTRY_BYTES

# -- queues of wgmma ----------------------------------------------------------------------------------------------
# In the state of a warp, a ring of operands in shared memory that are being read: the group they belong to, the
# descriptor, whether not k is contiguous, the first row of A (column of B) and how many.
G_GROUP, G_DESCRIPTOR, G_COLUMN, G_FIRST, G_COUNT = range(5)
G_SLOTS = 5
PRODUCT_QUEUE = 64  # operands a warp may have under way; the oldest counts as read when there are more

# -- mbarriers and bulk copies ----------------------------------------------------------------------------------------
# Of a block: how many bulk copies are under way, how many of them read shared memory; a count of what a waiting warp
# may have waited for, that count when waits last timed out, and how often they have since. Then tables.
X_COPIES, X_SOURCES, X_STEPS, X_STEPS_THEN, X_TIMEOUTS, X_WARPS = range(6)
# Of a warp: CLOCK at its last fence.proxy.async, and for each lane that waits the site and the basic block where, the
# mbarrier (a shared offset, -1 for none, or AT_CLUSTER for its barrier) and what for: the number of a phase, or
# -1 - its parity. Y_SUSPECT: the entry of the mbarrier that the warp has waited for last, where that was for no new
# phase; else 0.
Y_PROXY_FENCE, Y_SUSPECT, Y_SITES = range(3)
Y_BLOCKS = Y_SITES + LANES
Y_PLACES = Y_BLOCKS + LANES
Y_WANTS = Y_PLACES + LANES
WAITER_SLOTS = Y_WANTS + LANES
AT_CLUSTER = -2
# Of an mbarrier, in a table by shared offset: its offset + 1 (0: free), whether it is initialised, how many phases
# are complete, arrivals expected and pending, bytes expected and arrived in this phase, cp.async arrivals under way;
# how many phases were complete when a wait last saw it, whether another has completed with no wait since, the number
# of the site that has initialised it + 1; of each warp, the last phase that it has waited for; which warps of the
# block have arrived in this phase, and which have looked at it in vain, a bit each; the longest path of loads of its
# arrivals, and of those of the last phase; what its arrivals know, in times for each warp, and what those
# of the last phase did.
(
    M_KEY, M_VALID, M_PHASE, M_EXPECTED, M_PENDING, M_BYTES, M_ARRIVED, M_DEFERRED, M_SEEN, M_SKIPPED, M_INIT, M_WAITS,
) = range(12)  # fmt: skip
# The phase that lanes of a warp have waited for last, + 2 (1: the one before the first; 0: none); these lanes; where it
# was a phase that they had waited for before, or that one, the site and the lane of that wait; whether phases in front
# of it had completed for which the warp has not waited.
WAIT_PHASE, WAIT_LANES, WAIT_SITE, WAIT_LANE, WAIT_JUMPED = range(5)
WAIT_SLOTS = 5
M_COMERS = M_WAITS + LANES * WAIT_SLOTS
M_WAITERS = M_COMERS + 1
M_PATH = M_WAITERS + 1
M_PATH_THEN = M_PATH + 1
M_NOW = M_PATH_THEN + 1  # two vectors of KNOWN_COUNT
ASYNC_WARP = LANES  # what writes asynchronously counts as a warp, from here on: one for each mbarrier, modulo
ASYNC_WARPS = RANK_WARPS - 1 - ASYNC_WARP
KNOWN_WARPS = RANK_WARPS - 1
MBARRIERS = 512
MOST_ARRIVALS = (1 << 20) - 1
MANY_COPIES, MANY_MBARRIERS = 1, 2  # NO_ROOM
# A copy or a cp.async arrival under way: U_OPERATION is that of a reduction, else -1, U_TYPE the bytes of its elements
# or one of the types below; U_MAP 1 with a tensor map; U_REFUSED 1 where some of it is out of bounds.
(
    U_KIND, U_SITE, U_OWNER, U_GROUP, U_MBARRIER, U_BYTES, U_SHARED, U_GLOBAL, U_OPERATION, U_TYPE, U_MAP, U_REFUSED,
    U_PLACE,
) = range(13)  # fmt: skip
U_TENSOR = U_PLACE + 5  # U_PLACE: coordinates; U_TENSOR: the tensor map, as it was when the copy was issued
COPY_SLOTS = U_TENSOR + 16
# U_KIND. In clusters: to a peer's shared memory from the own, from registers; and at home, what such a copy reads.
TO_SHARED, TO_GLOBAL, ARRIVAL, TO_PEER, STORED, READ_BY_PEER = range(6)
BULK_COPIES = 4096
X_GROUPS = X_WARPS + LANES * WAITER_SLOTS  # of each thread, how many bulk groups it has committed
X_QUEUE = X_GROUPS + LANES * LANES
# What a request to global memory is gathered in: lanes, bytes of each, their addresses and places in shared memory; and
# what they store.
X_LANE_COUNT = X_QUEUE + BULK_COPIES * COPY_SLOTS
X_LANE_WIDTH = X_LANE_COUNT + 1
X_LANES = X_LANE_COUNT + 16
X_OFFSETS = X_LANES + LANES
X_VALUES = X_OFFSETS + LANES
X_MBARRIERS = X_VALUES + 2 * LANES  # MBARRIERS entries of MBARRIER_ENTRY bytes
F16_REDUCED, BF16_REDUCED = 2, 3
OF_TENSOR = 1 << 20  # with the index of an operation: a reduction whose type is the tensor map's

# The tensor map of this emulator: byte offsets of its fields. Sizes are kept as size - 1, for up to 2^32 elements.
MAP_MAGIC = 0x50414D54_4C440001
MAP_BYTES = 128
MAP_ADDRESS, MAP_RANK, MAP_ELEMENT, MAP_SWIZZLE, MAP_FILL, MAP_TYPE = 8, 16, 17, 18, 19, 20
MAP_DIMS, MAP_BOX, MAP_STEPS, MAP_STRIDES = 24, 44, 54, 64
TOKEN_COUNT = 20  # the token of an arrival: the phase << TOKEN_COUNT | arrivals pending then
DROPS, INCOMPLETE, EXPECTS, RELAXED = 1, 2, 4, 8  # how threads arrive, a bit each

# -- textures ---------------------------------------------------------------------------------------------------------
# The handle of a texture object is the address of these int64 slots, in global memory. An extent or a pitch that there
# is not is 1, or 0; layers count as slices. I_KIND: how an element becomes 32 bits; I_MODES and I_BORDER are the first
# of 3 and of 4.
TEXTURE_MAGIC = 0x54584554_4C440001
(
    I_MAGIC, I_ADDRESS, I_WIDTH, I_HEIGHT, I_DEPTH, I_PITCH, I_SLICE, I_BITS, I_CHANNELS, I_KIND, I_FILTERED,
    I_NORMALISED, I_MODES,
) = range(13)  # fmt: skip
I_BORDER = I_MODES + 3
TEXTURE_BYTES = 256
UNSIGNED, SIGNED, FLOAT, UNSIGNED_NORMALISED, SIGNED_NORMALISED = range(5)  # I_KIND
WRAP, CLAMP, MIRROR, BORDER = range(4)  # I_MODES: as CUDA numbers them
FLOATS, LAYERED = (
    4,
    8,
)  # how a texture is fetched, with how many coordinates: they are floats; the third is a layer

# CUtensorMapDataType, as far as it matters which
TENSOR_S32, TENSOR_S64, TENSOR_F16, TENSOR_F32, TENSOR_F64, TENSOR_BF16, TENSOR_F32_FTZ = 3, 5, 6, 7, 8, 9, 10

# -- warp state -------------------------------------------------------------------------------------------------------
(
    W_STATUS,
    W_LIVE,  # lanes that have not exited
    W_SYNC_CLOCK,  # CLOCK at the warp's last __syncwarp of all lanes, fence or barrier of a part of the block
    W_SPIN,  # dispatches since the lanes were last together in a loop: a spin lock makes it grow
    W_TURN,  # the block that ran out of order last
    W_EXECUTED,  # instructions
    W_PATH,  # sectors on the longest path of loads that leads to the warp (races/paths.py)
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
    W_PRODUCT_FENCES,  # of wgmma: fences so far, groups committed, the last group that was waited for,
    W_PRODUCT_GROUPS,
    W_PRODUCT_DONE,
    W_PRODUCT_FIRST,  # and the numbers of the first and the next entry of the queue
    W_PRODUCT_NEXT,
    W_HELD,  # lanes that wait for a phase of an mbarrier
    W_GO,  # those whose wait has timed out
    W_CLUSTER,  # lanes that have arrived at the cluster's barrier, in a phase that is not complete
    W_REGISTERS,  # that a thread of the warp has had since its last setmaxnreg, 0 where there was none
    W_GROWN,  # the site of that, where it asked for more
    W_KNOWN,  # for each warp of the block, and each of ASYNC_WARPS, CLOCK before which this one knows all that it did
) = range(33)
BARRIERS = 16
# B_ARRIVED_AT, B_ARRIVED_PATH: CLOCK, and the path of loads, when the warp arrived without waiting
B_WAITING, B_ARRIVED, B_ARRIVED_AT, B_ARRIVED_PATH, B_EXPECTED, B_TRUE = range(6)
BARRIER_SLOTS = 6
W_BARRIERS = W_KNOWN + KNOWN_WARPS  # BARRIERS times BARRIER_SLOTS
W_MASKS = W_BARRIERS + BARRIERS * BARRIER_SLOTS
# BLOCKS pending masks, then BLOCKS masks that wait at a barrier (int64 each), then registers

# how lanes arrive at a barrier, a bit each: see W_ALIGNED; without waiting
ALIGNED, ARRIVES = 1, 2
# what is forbidden at barriers
SPLIT, BYPASSED, MISCOUNTED, DEADLOCKED_AT = range(4)
FIELD = (1 << 20) - 1
HELD_SHIFT = 60  # of DEADLOCKED_AT: whether those missing wait at mbarriers

# How a site accesses memory. Strong accesses are volatile, relaxed, acquire or release; a REDUCTION is an atomic whose
# result nobody reads; READ_ONLY loads go through the cache that does not see stores (ld.global.nc). In the shadow of
# shared memory, KNOWN_STORE is a store whose values `settle_stores` can look at.
LOAD, STORE, ATOMIC, REDUCTION, STRONG_STORE, STRONG_LOAD, READ_ONLY, KNOWN_STORE = range(8)

DOUBT_GLOBAL, DOUBT_SHARED = 1, 2

CALL_AT = 8  # with the number of what a kernel asks of the host: which of its calls it is, from there on

LONGEST_SLEEP = 1_000_000  # nanoseconds of a nanosleep (PTX ISA 9.7.15)

# atomic operations; ATOM_ADD_FTZ: where subnormals are flushed
(
    ATOM_ADD, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_EXCH, ATOM_CAS, ATOM_INC, ATOM_DEC, ATOM_MIN_U, ATOM_MAX_U,
    ATOM_MIN_S, ATOM_MAX_S, ATOM_ADD_F, ATOM_ADD_FTZ, ATOM_ADD_HALVES, ATOM_ADD_BFLOATS,
) = range(16)  # fmt: skip

# what the kernel function returns, and W_STATUS; a launch is REPEATING that is stopped for what it stores
# again and again, STARVED where its blocks all wait for one that cannot begin, WAITING_IN_VAIN where all have begun
(
    RUNNING, WAITING, DONE, BUDGET_SPENT, LAUNCH_BUDGET_SPENT, REPEATING, TRAPPED, DEADLOCKED, STARVED, WAITING_IN_VAIN,
) = range(10)  # fmt: skip
STALLED = 10  # of a block: it can go on only when others of its cluster do
