"""What candidates say in their own words is heard in the bank's questions, and what is confidently wrong is not."""

import pytest

from grader.interview import hearing
from grader.interview.bank import load

ANSWERS = {
    "hpc-01": (
        """
A warp is 32 threads that get their instructions together. A block sits on one SM for its whole
life, and an SM can host several at once if registers and shared memory suffice. Blocks can be
scheduled in whatever order, so no block may wait on another. Threads inside a block cooperate
through shared memory and syncthreads. If lanes of a warp take different sides of an if, both are
executed in turn. I choose 256 threads normally and enough blocks so there are a few per SM.
        """,
        """
A warp has 64 threads. A block is spread over several SMs and can migrate between them. Blocks run
in the order of blockIdx. Global memory is shared by the threads of a block and they use it with
barriers. Divergence costs nothing. I use 1024 threads always.
        """,
    ),
    "hpc-04": (
        """
A stream is a FIFO of operations on the device, executed one after another. Operations in separate
streams may be concurrent with no guarantees unless you add events. The null stream is special: it
waits for all the other streams and they wait for it, unless they're created non-blocking. With
several streams uploads, kernels and downloads can happen simultaneously because copy engines are
separate hardware. Needs page-locked host buffers. It doesn't help if a kernel already fills the
whole GPU.
        """,
        """
Streams are CPU threads. The default stream runs concurrently with everything else. Different
streams always run in parallel and in the order of launch. Pageable memory is best for async copies.
More streams always help.
        """,
    ),
    "hpc-13": (
        """
When the 32 lanes of a warp load, the hardware merges their addresses into 32-byte segments, so
adjacent floats need just four of them. With stride two you throw half away, and for large strides
every thread pulls in its own 32 bytes so only an eighth is useful. Typical causes are AoS layouts,
walking columns, and misaligned rows. Fix by swapping the indices, SoA, padding or staging through
shared memory. In ncu I check sectors per request.
        """,
        """
Coalescing means each thread reads a contiguous chunk for itself. A warp always makes one
transaction of 128 bytes. Strided access is fine as caches handle it. You can't measure it.
        """,
    ),
    "hpc-14": (
        """
Shared memory is divided in 32 banks each 4 bytes wide. If two lanes hit the same bank at different
addresses the accesses get serialized; if they read the identical word it is broadcast. Reading a
column of a 32 wide float tile gives a 32-way conflict. Fix: add one padding column, or XOR swizzle.
For float4 the access is split into quarter warps. Profiler: bank conflict counter in ncu.
        """,
        """
Bank conflicts happen when threads of different warps access the same bank. There are 16 banks.
Reading the same word by many threads is the worst case. You fix it with more occupancy.
        """,
    ),
    "hpc-15": (
        """
Occupancy = active warps divided by the maximum warps an SM supports. Registers per thread, shared
memory per block, threads per block and the block limit determine it, and you take the smallest. It
helps cover memory latency but past a point more doesn't help; a GEMM with large register tiles is
fastest at low occupancy because of ILP. Forcing fewer registers causes spills.
        """,
        """
Occupancy is the percentage of cores that are busy. It must be 100 % for the best performance. It's
limited by the number of blocks in the grid only.
        """,
    ),
    "hpc-20": (
        """
PTX is a virtual ISA, an intermediate language with unlimited registers. nvcc makes PTX from C++ and
ptxas turns it into SASS, either ahead of time or by the driver at load time (JIT) with caching on
disk. Cubins only work within the same major version with same or higher minor; PTX is forward
compatible to newer GPUs. sm_90a is an exception. For performance look at the SASS.
        """,
        """
PTX is the machine code of the GPU. It is run directly by the hardware. A cubin runs on all newer
GPUs. sm_80 code runs on an H100.
        """,
    ),
    "hpc-21": (
        """
The x axis is arithmetic intensity in flops per byte of DRAM traffic and y is achieved flops. You
take the minimum of peak compute and bandwidth times intensity; they cross at the ridge, for H200
FP32 about 14. Left of it you're bandwidth limited. It doesn't account for latency, or for caches
and shared memory bottlenecks. For GEMM with T by T tiles intensity is T/4, so T should be at least
64 on an H200; a 4090 would need over 300, so L2 must help.
        """,
        """
Roofline shows time on x and memory on y. The ridge point is where the GPU overheats. It predicts
exactly how fast a kernel will be. A tile of 8 is enough.
        """,
    ),
    "hpc-24": (
        """
Latency is the time from issue to usable result, throughput the rate. Little: concurrency =
throughput × latency. FMA on a CPU is 4 cycles with 2 ports so you want 8 accumulators. On the GPU
FFMA also takes 4 cycles, so each scheduler needs 4 independent instructions. DRAM takes around 600
cycles so to saturate 4.8 TB/s you need more than a megabyte outstanding, so wide loads. GPUs hide
it by switching warps, CPUs by caches and out-of-order.
        """,
        """
Latency and throughput are inverse of each other. Little's law says latency is throughput squared. A
GPU has lower latency than a CPU. You need 1 in flight.
        """,
    ),
    "hpc-07": (
        """
Half precision: one sign bit, five bits exponent and ten mantissa bits, bias fifteen. Max 65504, min
normal 6.1e-5, and denormals down to 6e-8. Gradients underflow so one scales the loss; sums lose
small addends so accumulate in single precision and keep master weights. bf16 has the exponent of
fp32 but only 7 mantissa bits; tf32 has 10; fp8 comes in E4M3 and E5M2.
        """,
        """
FP16 has 8 exponent bits. Its maximum is 65536. Overflow is not possible. You should sum in FP16.
BF16 is more precise than FP16.
        """,
    ),
    "hpc-10": (
        """
DMA lets devices copy memory without the processor; RDMA is that across the network, so a NIC reads
or writes the remote host's memory without involving its kernel or CPU. Buffers have to be
registered (pinned). InfiniBand is its own fabric, lossless by credit-based flow control; RoCE runs
it over Ethernet UDP and needs PFC/ECN; iWARP is over TCP. GPUDirect RDMA lets the NIC access GPU
memory directly, skipping the bounce buffer in host RAM. Best when on the same PCIe switch.
        """,
        """
DMA means the CPU copies bytes very fast. RDMA sends data via the remote CPU. RoCE is wireless.
GPUDirect is a graphics API.
        """,
    ),
}


@pytest.mark.parametrize("question", ANSWERS)
def test_a_right_answer_in_other_words_is_heard(question: str) -> None:
    points = load(question).points
    assert hearing.score(hearing.hear(ANSWERS[question][0], points), points) >= 0.9


@pytest.mark.parametrize("question", ANSWERS)
def test_a_wrong_answer_with_the_right_nouns_earns_next_to_nothing(question: str) -> None:
    points = load(question).points
    assert hearing.score(hearing.hear(ANSWERS[question][1], points), points) <= 0.2
