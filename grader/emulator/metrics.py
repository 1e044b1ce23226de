"""Nsight Compute's metrics that the emulator counts, by its names; what it does not count itself is named emulator__.

`ld`, `st`, `red` and `atom` are loads, stores, atomics without a used result and atomics with one. All are sums over a
launch.
"""

from __future__ import annotations

LOAD_STORE = ("ld", "st")
ATOMICS = ("red", "atom")


def _by_operation(name: str, operations: tuple[str, ...]) -> dict[str, str]:
    return {operation: name.format(operation) for operation in operations}


# Requests: warp instructions that access global memory.
GLOBAL_REQUESTS = _by_operation("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", (*LOAD_STORE, *ATOMICS))

# Lines: aligned 128 bytes that loads and stores of global memory look up, each counted once a request; and wavefronts
# of L1's data: the most distinct words that lie in one of its 32 banks.
GLOBAL_LINES = _by_operation("l1tex__t_set_accesses_pipe_lsu_mem_global_op_{}.sum", LOAD_STORE)
GLOBAL_WAVEFRONTS = {
    kind: f"l1tex__data_pipe_lsu_wavefronts_mem_lgds_cmd_{verb}.sum"
    for kind, verb in zip(LOAD_STORE, ("read", "write"), strict=True)
}

# Sectors: aligned 32 bytes that requests to global memory touch, each counted once a request.
GLOBAL_SECTORS = _by_operation("l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum", (*LOAD_STORE, *ATOMICS))

# Sectors that those requests would touch at the least: as if the lanes of each had addresses one behind the other.
IDEAL_SECTORS = "memory_l2_theoretical_sectors_global_ideal"

# Requests to local memory: spilled registers, and arrays with an index that is not known to the compiler.
LOCAL_REQUESTS = _by_operation("l1tex__t_requests_pipe_lsu_mem_local_op_{}.sum", LOAD_STORE)

# Sectors of local memory, 32 bytes each.
LOCAL_SECTORS = _by_operation("l1tex__t_sectors_pipe_lsu_mem_local_op_{}.sum", LOAD_STORE)

# What has no metric in Nsight Compute, which counts it among the instructions and requests above: warp instructions
# that load and store registers which ptxas has spilled, four bytes a lane. PTX has none of them.
SPILLED = _by_operation("emulator__inst_executed_op_local_{}_spilled.sum", LOAD_STORE)

# Wavefronts: passes of requests through shared memory, each at most one word of 4 bytes a bank.
SHARED_WAVEFRONTS = _by_operation(
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum", (*LOAD_STORE, "atom")
)

# Wavefronts beyond those that a request's width takes: what bank conflicts cost.
SHARED_CONFLICTS = _by_operation(
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum", (*LOAD_STORE, "atom")
)

# Warp instructions that update shared memory: what it does itself ("alu"), and compare-and-swaps ("cas"), of which
# ptxas makes loops for what it cannot do, such as sums of floats.
SHARED_ATOMICS = {
    "alu": "smsp__inst_executed_op_shared_atom_dot_alu.sum",
    "cas": "smsp__inst_executed_op_shared_atom_dot_cas.sum",
}

# Warp instructions that name the memory space they access.
GLOBAL_INSTRUCTIONS = _by_operation("smsp__sass_inst_executed_op_global_{}.sum", LOAD_STORE)
LOCAL_INSTRUCTIONS = _by_operation("smsp__sass_inst_executed_op_local_{}.sum", LOAD_STORE)
SHARED_INSTRUCTIONS = _by_operation("smsp__sass_inst_executed_op_shared_{}.sum", LOAD_STORE)

# Warp instructions that load from constant memory at an address that is computed; and the passes through the constant
# cache that they take, one for each address that differs.
CONSTANT_INSTRUCTIONS = "smsp__inst_executed_op_ldc.sum"
CONSTANT_REQUESTS = "idc__requests.sum"

# What has no metric in Nsight Compute: aligned 32 bytes of constant memory that such loads touch.
CONSTANT_SECTORS = "emulator__sectors_mem_const.sum"

# Warp instructions that load matrices from shared memory: PTX's ldmatrix.
MATRIX_LOADS = "smsp__sass_inst_executed_op_ldsm.sum"

# Those that store them: stmatrix.
MATRIX_STORES = "smsp__sass_inst_executed_op_shared_stsm.sum"

# Those that read an operand of a warpgroup's product from shared memory.
SHARED_PRODUCTS = "smsp__sass_inst_executed_op_shared_gmma.sum"

# Warp instructions that copy from global to shared memory: PTX's cp.async.
ASYNC_COPIES = "smsp__sass_inst_executed_op_ldgsts.sum"

# What has no metric of its own in Nsight Compute: sectors that they read, among those of all loads.
ASYNC_SECTORS = "emulator__sectors_mem_global_op_ldgsts.sum"

# Wavefronts of shared memory beyond those that the widths of such copies take: bank conflicts where they write.
COPY_CONFLICTS = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"

# Bulk and tensor copies, and reductions, by TMA: instructions, of which SASS has one for each lane that issues a copy;
# and bytes and sectors that pass between L1 and L2, those too that a load fills outside the tensor; what a multicast
# brings counts for each block that gets it.
BULK_COPIES = {op: f"smsp__sass_inst_executed_op_tma_{op}.sum" for op in ("ld", "st", "red")}
_TMA_WAYS = {"ld": "xbar2l1tex_read", "st": "l1tex2xbar_write", "red": "l1tex2xbar_write"}
TMA_BYTES, TMA_SECTORS = (
    {op: f"l1tex__m_{way}_{what}_mem_global_op_tma_{op}.sum" for op, way in _TMA_WAYS.items()}
    for what in ("bytes", "sectors")
)

# Shared memory of other blocks of the cluster: warp instructions, by machine instruction (`stas` and `redas` complete
# an mbarrier there; TMA counts each lane's copy); requests; aligned 32 bytes that those touch; bytes that come from
# there, or arrive there: of an atomic both.
_PEER_WAYS, _PEER_COPIES = ("ld", "st", "atom", "redas"), ("tma_st", "tma_red")
PEER_INSTRUCTIONS = _by_operation(
    "smsp__sass_inst_executed_op_dshared_{}.sum", (*_PEER_WAYS, "stas", *_PEER_COPIES)
)
PEER_REQUESTS = _by_operation("l1tex__t_requests_pipe_lsu_mem_dshared_op_{}.sum", _PEER_WAYS)
PEER_SECTORS = _by_operation("l1tex__t_sectors_pipe_lsu_mem_dshared_op_{}.sum", _PEER_WAYS)
PEER_BYTES = _by_operation(
    "l1tex__m_xbar2l1tex_read_bytes_mem_dshared_op_{}.sum", (*_PEER_WAYS, *_PEER_COPIES)
)

# What has no metric in Nsight Compute, which knows such sectors of global memory alone: sectors beyond those that the
# lanes' bytes fill. There they are what bank conflicts are in a block's own shared memory: accesses are to be coalesced
# (Hopper Tuning Guide, "Distributed Shared Memory").
PEER_EXCESS = _by_operation("emulator__sectors_mem_dshared_op_{}_excessive.sum", _PEER_WAYS)

# Thread instructions that were not predicated off, by precision (f: FP32, d: FP64, h: FP16, two of which packed in a
# register count as one) and operation: ffma, dadd, hmul …
ARITHMETIC = {
    f"{precision}{operation}": f"smsp__sass_thread_inst_executed_op_{precision}{operation}_pred_on.sum"
    for precision in "fdh"
    for operation in ("fma", "add", "mul")
}

# What has no metric in Nsight Compute: floating-point numbers that memory adds up, by atomics and by reductions of TMA.
MEMORY_ADDITIONS = "emulator__additions_in_memory.sum"

# Warp instructions on Tensor Cores with FP16, BF16, TF32 and FP8, which mma.sync widens to FP16: mostly of a 16 × 8
# result each, or those of whole warpgroups, once for each warp.
TENSOR_INSTRUCTIONS = "sm__inst_executed_pipe_tensor_op_hmma.sum"

# The same of other kinds: integers and bits, doubles; and (gmma) those of whole warpgroups, which count among the
# others as well.
TENSOR_PIPES = {
    "hmma": TENSOR_INSTRUCTIONS,
    "imma": "sm__inst_executed_pipe_tensor_op_imma.sum",
    "dmma": "sm__inst_executed_pipe_tensor_op_dmma.sum",
    "gmma": "sm__inst_executed_pipe_tensor_op_gmma.sum",
}

# Multiplications and additions on Tensor Cores, by the types of factors and sums.
TENSOR_OPS = {
    (factors, sums): f"sm__ops_path_tensor_op_hmma_src_{factors}_dst_{sums}.sum"
    for factors, sums in (("fp16", "fp32"), ("fp16", "fp16"), ("bf16", "fp32"), ("tf32", "fp32"))
} | {("fp64", "fp64"): "sm__ops_path_tensor_src_fp64.sum"}

# Those of warpgroups.
WARPGROUP_OPS = {
    "fp16": "sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum",
    "bf16": "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum",
    "tf32": "sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32_sparsity_off.sum",
    "fp8": "sm__ops_path_tensor_src_fp8_sparsity_off.sum",
}

# All of them with floating-point numbers.
TENSOR_FLOP = (*TENSOR_OPS.values(), *WARPGROUP_OPS.values())

# Those with integers, and with bits.
INTEGER_OPS = {
    "imma": "sm__ops_path_tensor_op_imma_src_int8_sparsity_off.sum",
    "igmma": "sm__ops_path_tensor_op_igmma_src_int8_sparsity_off.sum",
    "bmma": "sm__ops_path_tensor_op_bmma_src_int1.sum",
}

# What has no metric in Nsight Compute: fences for the device (membar.gl, a release, whatever becomes such a fence) and
# for the system, in warp instructions; and nanoseconds that warps asked to sleep.
FENCES = {scope: f"emulator__inst_executed_op_membar_{scope}.sum" for scope in ("gl", "sys")}
SLEPT = "emulator__nanosleep_time.sum"

# And sectors that prefetches bring to L2: of those of a warp each one once, of bulk and tensor copies all.
PREFETCHED = "emulator__sectors_prefetched.sum"

# Warp instructions of any kind.
WARP_INSTRUCTIONS = "smsp__inst_executed.sum"

# Those of the unit for special functions (XU): reciprocals, roots, exponentials, logarithms, sines and cosines, and one
# for each division and exact root, which begin so; conversions from and to 64-bit types; and counts, searches and
# reversals of bits. A GPU counts other conversions as well, which go the same way.
SPECIAL_FUNCTIONS = "smsp__inst_executed_pipe_xu.sum"

# Those of the unit for double precision: additions, multiplications, comparisons, and what divisions and roots are made
# of.
FP64_INSTRUCTIONS = "smsp__inst_executed_pipe_fp64.sum"

# What has no metric in Nsight Compute: issue slots of warps that PTX's instructions take in SASS beyond one each, where
# those are many, as of divisions. A GPU counts such instructions among all.
EXPANDED = "emulator__issue_slots_expanded.sum"

# Shuffles, votes and matches, once for each thread that executes them.
INTER_THREAD = "smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum"

# Instructions of any kind, once for each thread that executes them.
THREAD_INSTRUCTIONS = "smsp__thread_inst_executed.sum"

NAMES = frozenset(
    {
        *GLOBAL_REQUESTS.values(),
        *GLOBAL_LINES.values(),
        *GLOBAL_WAVEFRONTS.values(),
        *GLOBAL_SECTORS.values(),
        IDEAL_SECTORS,
        *LOCAL_REQUESTS.values(),
        *LOCAL_SECTORS.values(),
        *SPILLED.values(),
        *SHARED_WAVEFRONTS.values(),
        *SHARED_CONFLICTS.values(),
        *SHARED_ATOMICS.values(),
        *GLOBAL_INSTRUCTIONS.values(),
        *LOCAL_INSTRUCTIONS.values(),
        *SHARED_INSTRUCTIONS.values(),
        CONSTANT_INSTRUCTIONS,
        CONSTANT_REQUESTS,
        CONSTANT_SECTORS,
        MATRIX_LOADS,
        MATRIX_STORES,
        SHARED_PRODUCTS,
        ASYNC_COPIES,
        ASYNC_SECTORS,
        COPY_CONFLICTS,
        *BULK_COPIES.values(),
        *TMA_BYTES.values(),
        *TMA_SECTORS.values(),
        *PEER_INSTRUCTIONS.values(),
        *PEER_REQUESTS.values(),
        *PEER_SECTORS.values(),
        *PEER_BYTES.values(),
        *PEER_EXCESS.values(),
        *ARITHMETIC.values(),
        MEMORY_ADDITIONS,
        *TENSOR_PIPES.values(),
        *TENSOR_FLOP,
        *INTEGER_OPS.values(),
        *FENCES.values(),
        SLEPT,
        PREFETCHED,
        WARP_INSTRUCTIONS,
        SPECIAL_FUNCTIONS,
        FP64_INSTRUCTIONS,
        EXPANDED,
        INTER_THREAD,
        THREAD_INSTRUCTIONS,
    }
)
"""All of them."""
