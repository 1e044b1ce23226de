"""What candidates say in their own words is found in the bank's questions, and what is confidently wrong is not."""

import pytest
from word_droppers import DROPPED

from grader.interview import key_points
from grader.interview.bank import discover, load

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
    "hpc-16": (
        """
If a thread makes one output it reads one value of A and one of B for every FMA, so half an FMA per
load. Two by two gives four FMAs out of four loads, and eight by eight gives 64 FMAs with sixteen
reads, since the work goes with the area and the loads with the edges. Using float4 you need only
four loads for those 64, so sixteen FMAs per load instruction. The SM can issue four FMAs per cycle
while shared memory delivers 128 bytes per cycle, so you want at least four FMAs per wavefront to
keep the units busy. The vector load cuts instructions, but the same bytes still have to be moved.
You can't go much further because there are only 255 registers and then it spills.
        """,
        """
The ratio is about memory. With float4 there is a bandwidth of 128 bytes, so the kernel needs fewer
registers. It is limited by the instructions of the scheduler, and the cache holds the operands. For
8 x 8 it takes 64 loads for each of the 16 products. An SM has four schedulers, so it is good to use
4 loads.
        """,
    ),
    "hpc-22": (
        """
Inside an SM there are four warp schedulers, and each one picks an eligible warp every cycle; that
switch is free as the state stays in the register file. Blocks are distributed to SMs by the block
scheduler whenever one has enough free resources, in no particular order, and a block never
migrates. Kernels in a stream with higher priority get their waiting blocks placed first, but blocks
that are running aren't preempted. Several processes on one GPU take turns by default, each gets the
entire GPU for a time slice. With MPS their kernels can execute simultaneously, though they share
L2 and memory bandwidth, and a crash may hit all. MIG is a hardware partition: up to seven instances
with dedicated SMs and memory.
        """,
        """
The warp scheduler is a part of the driver. The block scheduler gives each SM one block at a time.
Priorities of streams decide which process owns the memory. Time-slicing means that the clock is
lower. MPS and MIG are the same: they make streams faster by sharing the cache in software.
        """,
    ),
    "hpc-23": (
        """
COO keeps a row, a column and a value for every nonzero; CSR has row pointers instead, so about 8
bytes per entry. ELL pads each row to the longest one, DIA needs no indices, and BSR has just one
index per block. I'd default to CSR, use COO when assembling, DIA for banded matrices or stencils,
ELL if the rows have the same length, BSR for dense blocks. SpMV is memory bound: two flops for
eight bytes or more. On the GPU I'd give one warp to each row so that reads are coalesced, and
balance rows of very different length; the gathers of x hurt. Dense is better above 50% density, and
for a matrix product already at 90% zeros because Tensor Cores are so fast.
        """,
        """
CSR is a compressed format with 12 bytes, and ELL is a faster one. SpMV is compute-bound because of
the gathers. The warp has to read the diagonals for the stencil. Density does not matter. Tensor
Cores make all of them equal.
        """,
    ),
    "hpc-25": (
        """
One product is 2 N cubed, so 16 million operations on roughly 480 KB. Over PCIe that's a few
microseconds plus a fixed cost for each transfer. If you copy in and out for every product it ends
up slower than on the CPU, about twice as long. If you keep the matrices on the device it's the
fastest by far, and only the launch overhead remains. Work grows with N cubed and the transfers with
N squared, so there's a break-even at a few hundred, or after two or three products if data stay.
        """,
        """
It is 480 KB, which is small for the PCIe, so the copies are for free. The break-even does not
depend on N. Pageable memory is the fastest. Launch overhead is zero, and the GPU wins with copies
for every product as well.
        """,
    ),
    "hpc-26": (
        """
The new machines probably have a newer GPU and the binaries don't contain SASS for it, so the driver
JIT compiles everything from PTX at the first launch; after that it's in the compute cache. nvcc
first produces PTX for a virtual architecture, then ptxas makes a cubin for the real one. A fat
binary bundles several cubins plus PTX, which you select by -gencode. At load the driver looks for a
cubin with the same major version, otherwise it JITs the PTX, and if there's no PTX you get "no
kernel image". I'd build cubins for all our GPUs, put the cache on a persistent volume and do a warm
up before going live.
        """,
        """
It is JIT, so Python compiles it. The fat binary is too fat for the memory. A cubin of sm_80 runs on
all newer GPUs. ptxas is a profiler. The -arch flag chooses the CPU. I would rebuild the machine.
        """,
    ),
    "hpc-27": (
        """
The driver is a kernel module with libcuda on top and it's part of the machine; it can also JIT PTX.
The toolkit is for developers: nvcc, headers, the runtime and libraries. nvcc separates host code
from device code and calls the host compiler. cuBLAS does matrix products and ships with the
toolkit, cuDNN has convolutions and attention and comes on its own. TensorRT takes a whole network
from ONNX and builds an engine, fusing layers and choosing precision, and that engine only works on
the same GPU and version. Your driver has to be at least as new as the toolkit wants, a newer driver
runs older programs.
        """,
        """
The driver is the runtime library. nvcc is a GPU driver in the toolkit. cuBLAS and cuDNN are tools
for profiling. TensorRT is a graph of tensors. nvidia-smi shows the version of nvcc, and the
versions are compatible with each other in any case.
        """,
    ),
}


@pytest.mark.parametrize("question", ANSWERS)
def test_a_right_answer_in_other_words_is_found(question: str) -> None:
    points = load(question).points
    assert key_points.score(key_points.find(ANSWERS[question][0], points), points) >= 0.9


@pytest.mark.parametrize("question", ANSWERS)
def test_a_wrong_answer_with_the_right_nouns_earns_next_to_nothing(question: str) -> None:
    points = load(question).points
    assert key_points.score(key_points.find(ANSWERS[question][1], points), points) <= 0.2


@pytest.mark.parametrize("question", discover())
def test_words_that_fit_every_question_earn_little(question: str) -> None:
    """A list earns half of what it names, and a third of the points at most.

    Sentences are allowed 0.4: where a question is about occupancy or memory, some of them happen to be true.
    """
    points = load(question).points
    assert key_points.score(key_points.find(DROPPED["a list"], points), points) <= 1 / 3
    assert key_points.score(key_points.find(DROPPED["sentences"], points), points) <= 0.4
