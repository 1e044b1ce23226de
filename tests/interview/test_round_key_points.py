"""What candidates say of a round, in words of their own, is found there, and hardly at any other step."""

import statistics

import pytest
from word_droppers import DROPPED

from grader.interview import key_points, rounds
from grader.interview.key_points import Point
from grader.workbook import topics

OPENINGS = {
    "block_sum": (
        "Plus-equals from many threads is a race, additions get lost. With an atomic it's right, but all of them queue "
        "for one address. So every block sums its numbers in shared memory first and does one atomic. In the end it's "
        "limited by memory, each number is read just once."
    ),
    "histogram": (
        "Each byte is read once, so ideally it's bandwidth-bound. The trouble is contention: atomics to the same bin "
        "serialize. I'd keep a private copy per block in shared memory and merge at the end. And it depends "
        "on the data, skewed inputs hit only a few bins."
    ),
    "gemm": (
        "A matrix product does two M N K operations on few bytes, so for big matrices it's compute bound. At "
        "best it takes that count divided by the peak rate, about 2 ms for 4096. A naive kernel doesn't get "
        "near that because each multiply-add loads both operands from memory, there's no reuse. I'd coalesce "
        "the accesses, put tiles into shared memory, then compute several outputs per thread in registers, "
        "use float4 and double buffering."
    ),
    "hgemm": (
        "A Tensor Core multiplies small matrices with one instruction per warp, which is about 15 times the "
        "FP32 rate. The hard part is feeding them, so each half that is read has to be reused many times by "
        "large warp tiles. I accumulate in FP32 because half would overflow at 65504 and lose bits. Rows "
        "should be aligned to 16 bytes, otherwise I pad."
    ),
    "conv2d": (
        "It's N K P Q C R S multiply-adds, around 59 GFLOP on 200 MB, so clearly compute bound. One can "
        "lower it with im2col to a GEMM, or do an implicit GEMM that never writes the columns. Winograd "
        "needs fewer multiplications for 3 x 3 but loses some accuracy. FFT is for large filters, and direct "
        "convolution for depthwise layers. A 1 x 1 filter is already a matrix product, and cuDNN picks among "
        "them by heuristics."
    ),
    "reduce": (
        "It reads four bytes per number and does one addition, so it's memory bound. In a block I'd use a "
        "tree, then the partial sums go to a second launch. Watch out for divergence and bank conflicts. "
        "Each thread should load several elements first, so enough bytes are in flight."
    ),
    "reduce2d": (
        "It's memory bound, every element is read once. Column sums are easy since neighbouring threads take "
        "neighbouring columns. For rows I'd use a warp per row with shuffles. Doing both at once reads the "
        "matrix only once."
    ),
    "streams": (
        "The GPU has two copy engines and the compute engine; if they overlap, the slowest one decides. A "
        "stream executes in order, different streams aren't ordered unless you use events. Host memory must "
        "be pinned for async copies. So split the data into chunks and give each stream its own buffers."
    ),
    "transpose": (
        "It's memory bound, each element is read once and written once. So the best you can get is the time "
        "of a plain copy. Either the reads or the writes are strided. With a tile in shared memory both "
        "sides are coalesced."
    ),
}
"""How a candidate opens, by topic."""

SPOKEN = {
    "block_sum": {
        "00_naive": (
            "Every atomic hits the same address, so they're serialized. The DRAM is mostly idle.",
            "Sum per block in shared memory and issue one atomic. I need a syncthreads before anybody reads.",
        ),
        "02_tree": (
            "Most threads sit idle in the tree, waiting at barriers. And each has just one load in flight.",
            "Use a grid-stride loop, so a thread accumulates many elements. The tree is amortized over them.",
        ),
        "03_grid_stride": (
            "Now it's limited by DRAM bandwidth. The atomics are negligible.",
            "Vectorized loads, float4. If results have to be reproducible, write partial sums and add them in order.",
        ),
    },
    "histogram": {
        "00_naive": (
            "Contention: all the atomics go to L2. It's terrible if all bytes are the same value.",
            "Give each block its own histogram in shared memory. Then a block does just 256 atomics at the end.",
        ),
        "02_wide_loads": (
            "Bank conflicts of the shared atomics. With random bytes several lanes land in the same bank.",
            "Replicate the histogram per lane, each lane's own copy in its own bank, so it's conflict-free.",
        ),
        "03_lane_copies": (
            "The throughput of shared atomics, a wavefront for each 32 bytes. It's about memory-bound as well.",
            "One could aggregate runs of equal bytes in registers. Otherwise stop and fuse it into the producer.",
        ),
    },
    "gemm": {
        "00_naive": (
            (
                "Threads of one warp sit in different rows, so the loads of A are uncoalesced and each "
                "touches 32 sectors. Also every FMA needs two loads and nothing is kept."
            ),
            (
                "I'd swap x and y so consecutive threads handle consecutive columns of C. Then B comes in "
                "four full sectors and A is a broadcast."
            ),
        ),
        "01_coalesced": (
            (
                "We still do two load instructions for each FMA and everything goes through L1. The same "
                "elements get loaded over and over by different threads."
            ),
            (
                "Let the block stage a tile of A and one of B in shared memory. Each value is then reused 32 "
                "times, so global traffic drops by that factor."
            ),
        ),
        "02_shared_tile": (
            (
                "Now it's limited by shared memory: every FMA needs two reads from it. An SM delivers one "
                "wavefront per cycle but could do four FMAs per cycle, so we're stuck at an eighth of peak."
            ),
            (
                "Compute more results per thread and keep them in registers, for example 8 by 8. The ratio "
                "of FMAs to loads goes from one half to four."
            ),
        ),
        "04_register_tile_2d": (
            (
                "There are too many load instructions, sixteen loads from shared memory for 64 FMAs, and "
                "they all eat issue slots. Occupancy is low because of the registers but that doesn't matter "
                "since the accumulators are independent."
            ),
            (
                "Use float4 loads so it's only four instructions. A has to be stored transposed in shared "
                "memory, and everything aligned to 16 bytes."
            ),
        ),
        "05_float4": (
            (
                "The block waits for the next tile from global memory before it can compute, so the latency "
                "is exposed. And a 128-bit read still costs several wavefronts."
            ),
            (
                "Double buffer: prefetch the next tile while computing this one. Also arrange the lanes of a "
                "warp in a 4 x 8 rectangle so they share reads."
            ),
        ),
        "07_double_buffer": (
            (
                "The prefetched values go through registers, which costs sixteen registers a thread. Stores "
                "to shared memory, address arithmetic and barriers need issue slots as well."
            ),
            (
                "Use cp.async to copy straight to shared memory in several stages. Then a larger tile, 8 by "
                "16 per thread, fits the 255 registers."
            ),
        ),
        "09_wide_tile": (
            (
                "It is compute bound now, the FP32 units are busy. The last wave isn't full, and each block "
                "has a prologue and an epilogue."
            ),
            (
                "Go to Tensor Cores with TF32 if the precision allows it. Otherwise split K for small grids, "
                "or just call cuBLAS."
            ),
        ),
    },
    "hgemm": {
        "00_naive": (
            (
                "For each multiply-add there are two loads, conversions to float and address instructions. "
                "The math itself runs on the CUDA cores as an ordinary FFMA."
            ),
            (
                "Use Tensor Cores through WMMA fragments. The accumulator fragment is float, and sizes need "
                "to be multiples of 16 or be padded."
            ),
        ),
        "02_wmma": (
            (
                "The fragments are loaded again from global memory for each step, so the Tensor Cores wait "
                "for data. And the rows of a fragment are only 32 bytes, so sectors are half used."
            ),
            (
                "Stage tiles of A and B in shared memory once for the block. Then load the fragments with "
                "ldmatrix."
            ),
        ),
        "03_shared_tile": (
            (
                "There are bank conflicts, because the rows are 128 bytes apart and fall into the same "
                "banks. And a warp of 32 x 32 doesn't reuse its fragments enough."
            ),
            "Give each warp a 64 x 64 tile. Pad the rows with 16 bytes, or swizzle.",
        ),
        "05_padded_tile": (
            (
                "Loading and multiplying don't overlap, the block first waits for its tile and then "
                "computes. There are only one or two blocks on the SM because the accumulators fill the "
                "registers, so nothing hides it."
            ),
            (
                "Use cp.async with a pipeline of three stages. A thread waits for its own groups and then "
                "there's a barrier."
            ),
        ),
        "06_cp_async": (
            (
                "Each k step starts by waiting for ldmatrix. WMMA also hides the layout, so I can't control "
                "the shared memory, and the padding costs space."
            ),
            (
                "Write mma.sync and ldmatrix by hand in PTX with a swizzle. Prefetch the fragments of the "
                "next step into a second set of registers."
            ),
        ),
        "08_fragments_ahead": (
            "Shared memory bandwidth is nearly used up at this rate. The registers are full, too.",
            (
                "On Hopper there's wgmma, where a warpgroup reads operands from shared memory directly. "
                "Together with TMA and warp specialisation that's what CUTLASS does."
            ),
        ),
    },
    "conv2d": {
        "00_naive": (
            (
                "Most of it is bookkeeping: index arithmetic and bounds checks, around twenty instructions "
                "per multiply-add. Each multiply-add needs two loads, though mostly from cache."
            ),
            (
                "Load a patch of the input with its halo into shared memory, padded with zeros. Make the "
                "filter size a template parameter so the loops unroll."
            ),
        ),
        "02_shared_tile": (
            (
                "There are two shared memory reads per multiply-add. The index arithmetic is still there for "
                "each single output."
            ),
            (
                "Let each thread compute several output channels, so an x in a register is used eight times. "
                "The weights can be read as float4."
            ),
        ),
        "03_register_block": (
            (
                "It's still limited by shared memory, three loads for eight multiply-adds. Only x gets "
                "reused, the weights are loaded again for each pixel."
            ),
            (
                "Turn it into a matrix product with im2col so both operands get reused. The price is memory, "
                "the matrix is nine times as large as x."
            ),
        ),
        "04_im2col_gemm": (
            (
                "We write and read the columns, which is a lot of extra traffic. It also takes an additional "
                "kernel and a workspace."
            ),
            (
                "Make it an implicit GEMM, building the tiles in shared memory on the fly. If sixteen "
                "channels share one tap the border is checked only once."
            ),
        ),
        "05_implicit_gemm": (
            (
                "It's compute bound, limited by the multiply-adds of the formula. There's little else left, "
                "we're close to the bound of 0.88 ms."
            ),
            (
                "Winograd needs fewer multiplications, 2.25 times less. But the transforms cost extra "
                "traffic and accuracy."
            ),
        ),
        "06_winograd": (
            (
                "Now it's memory bound, the transformed tiles are written to global memory and read back. "
                "Whether it pays depends on the number of channels."
            ),
            (
                "Fuse everything into one kernel so that the transformed data never leave the SM. Larger "
                "tiles F(4x4) would save more but lose accuracy."
            ),
        ),
        "07_winograd_fused": (
            (
                "The accumulators take half of the register file, so there are only eight warps and operands "
                "have to be fetched again. The transforms cost arithmetic besides the products."
            ),
            "I'd go to Tensor Cores with TF32. One has to mind accuracy, and strided or 1 x 1 layers.",
        ),
    },
    "reduce": {
        "00_naive": (
            (
                "Warps diverge, because only every second thread is active, then every fourth. Meanwhile "
                "nothing is loaded and everybody waits at barriers."
            ),
            (
                "Use consecutive threads for the additions so whole warps retire. That might cause bank "
                "conflicts."
            ),
        ),
        "01_packed_threads": (
            "There are bank conflicts. The stride is a power of two so many threads hit the same bank.",
            (
                "Reverse it: start with a distance of half the block and halve it. Then neighbouring threads "
                "read neighbouring words, which is conflict free."
            ),
        ),
        "02_sequential": (
            (
                "Each thread loads a single float and then waits at barriers, so too few bytes are in "
                "flight. Half of the threads are idle from the start."
            ),
            (
                "Do the first addition during the load, each thread loads two numbers. That halves the "
                "blocks, and there are two independent loads."
            ),
        ),
        "03_first_add": (
            (
                "The last steps of the tree use only one warp while the others wait at the barrier. Every "
                "step makes a round trip through shared memory."
            ),
            (
                "Use warp shuffles for those. All lanes in the mask have to participate, and since Volta one "
                "can't rely on lockstep, so use the sync versions with a full mask."
            ),
        ),
        "05_warp_shuffles": (
            (
                "The blocks are too short, a block handles only 512 numbers, so the block overhead is paid "
                "many times. Two floats per thread aren't enough bytes in flight."
            ),
            (
                "A grid-stride loop with a fixed number of blocks. Each thread does several float4 loads "
                "before adding."
            ),
        ),
        "06_float4_stride": (
            (
                "It's memory bound now, at nearly full DRAM bandwidth. The second kernel launch matters only "
                "for small arrays."
            ),
            (
                "Do it in one launch with an atomic counter, where the last block adds up the partial sums "
                "after a threadfence. Using atomicAdd on floats would not be deterministic."
            ),
        ),
        "07_single_pass": (
            (
                "It is limited by the memory bandwidth, nothing else. What can go wrong is a missing fence, "
                "or not resetting the counter."
            ),
            (
                "I'd stop and rather fuse the sum into the producer kernel. Mind that small arrays come from "
                "L2 in a benchmark."
            ),
        ),
    },
    "reduce2d": {
        "00_naive": (
            (
                "The row sums are uncoalesced, each thread walks along its own row. And one thread per row "
                "is too few threads for such a GPU."
            ),
            (
                "Take a block for each row so adjacent threads read adjacent elements side by side. For "
                "columns use several threads and add their partial sums."
            ),
        ),
        "01_block_a_row": (
            (
                "The matrix gets read twice, once by each kernel. With short rows most threads of a block "
                "are idle."
            ),
            "Use a warp per row with shuffles. And then compute both sums in one pass.",
        ),
        "02_warp_a_row": (
            "It still reads everything twice. So for long rows it gains nothing.",
            (
                "One pass over tiles where each element is added to both sums. The partial sums are added by "
                "a second kernel."
            ),
        ),
        "03_one_pass": (
            (
                "There are many instructions for single floats, addresses and edge checks. And with such "
                "narrow loads there are few bytes in flight."
            ),
            "Use float4. Rows need to be a multiple of four long, otherwise use a scalar version.",
        ),
        "04_float4": (
            "The shuffles: five per row. Most of that is redundant as every lane gets the same sum.",
            (
                "Let eight rows share the shuffles, each lane keeps half of its values and exchanges the "
                "other half. That's nine shuffles instead of 40."
            ),
        ),
        "05_shared_shuffles": (
            (
                "It's close to the memory bound now, plus the second launch. Arrays must be indexed with "
                "constants or they end up in local memory."
            ),
            "Look at other shapes, like short rows. And fuse it into a softmax.",
        ),
    },
    "streams": {
        "00_naive": (
            (
                "Memory is pageable, so the driver copies through a staging buffer. The calls are "
                "synchronous, so only one engine works at a time."
            ),
            "Allocate pinned memory. Then the DMA engine runs at full rate, and copies can be asynchronous.",
        ),
        "01_pinned": (
            "The three steps run one after another. Each needs the whole array of the step before.",
            "Split it into chunks. Enqueue them all and wait once at the end.",
        ),
        "02_chunks": (
            "In a single stream everything still runs in order. So chunks alone are not faster.",
            (
                "Use two streams, so one computes while the other copies. Each has its own buffers, and "
                "reuse of a buffer is safe because it's in the same stream."
            ),
        ),
        "03_two_streams": (
            (
                "With two chunks in flight only two engines work at most. Each of them is idle for a third "
                "of the time."
            ),
            (
                "Use at least three or four streams. Then choose the chunk size, because every copy has a "
                "fixed cost."
            ),
        ),
        "05_depth_first": (
            (
                "The PCIe link in both directions is what limits it. Only at the beginning and at the end "
                "are engines idle."
            ),
            (
                "One stream per engine and events between them. You also need the backward dependencies so a "
                "buffer isn't overwritten too early."
            ),
        ),
        "06_events": (
            (
                "PCIe is the limit. On the host there are many API calls per chunk, which would hurt with "
                "short kernels."
            ),
            (
                "Capture it into a CUDA graph and launch that. It pays when you repeat the same thing many "
                "times."
            ),
        ),
        "07_graph": (
            (
                "The link is still the bottleneck so the graph gains nothing. During capture you can't "
                "synchronise or allocate."
            ),
            (
                "Copy less data, e.g. in half precision, or keep it on the device. A faster link like NVLink "
                "would help, the schedule is finished."
            ),
        ),
    },
    "transpose": {
        "00_naive": (
            (
                "The writes are strided, as threads of a warp write down a column. Every store touches 32 "
                "sectors and wastes most of each. The loads are fine, they're contiguous."
            ),
            (
                "Swap it so that the writes are coalesced. Strided reads hurt less, since L1 keeps the "
                "sectors for the next warps."
            ),
        ),
        "01_coalesced_writes": (
            (
                "Now the reads are strided, 32 sectors for each request. It depends on the L1 cache, and "
                "lines get evicted before they are used completely."
            ),
            (
                "Stage a 32 x 32 tile in shared memory. Both loads and stores go along rows then, with a "
                "barrier in between."
            ),
        ),
        "02_shared_tile": (
            (
                "Reading a column of the tile has bank conflicts. All 32 words are in the same bank, so it's "
                "serialised 32 times."
            ),
            "Pad the rows by one. Then the column falls into different banks.",
        ),
        "03_padded_tile": (
            (
                "There aren't enough bytes in flight to hide the latency. It also takes many instructions "
                "per element."
            ),
            "Use float4. It needs 16 byte alignment, so I'd swizzle instead of padding.",
        ),
        "05_float4_tile": (
            (
                "It's limited by the DRAM bandwidth, as a plain copy is. There are no conflicts and all "
                "sectors are full."
            ),
            (
                "I would stop and rather fuse the transpose into the next kernel. That one has the data in "
                "registers anyway."
            ),
        ),
    },
}
"""What limits a version, and what comes next and why, by topic and rung."""


def share(text: str, points: tuple[Point, ...]) -> float:
    return key_points.score(key_points.find(text, points), points)


def steps(topic: str) -> dict[tuple[str, int], tuple[Point, ...]]:
    """The points of each rung: 0, what limits it, and 1, what comes next."""
    found = rounds.read_interview(topics.load(topic)).rounds
    return {(item.rung, kind): (item.limits, item.next)[kind] for item in found for kind in (0, 1)}


@pytest.mark.parametrize("topic", SPOKEN)
def test_a_right_answer_in_other_words_is_found(topic: str) -> None:
    """At least 0.7 of a step: an answer as short as “Use float4.” is no sentence, and earns half of its point."""
    assert share(OPENINGS[topic], rounds.read_interview(topics.load(topic)).points) >= 0.7
    for (rung, kind), points in steps(topic).items():
        assert share(SPOKEN[topic][rung][kind], points) >= 0.7, (rung, kind)


@pytest.mark.parametrize("topic", SPOKEN)
def test_what_is_right_at_another_step_is_hardly_found(topic: str) -> None:
    """Some versions share their limit, such as the link in three of `streams`: so this bounds the mean."""
    found = steps(topic)
    elsewhere = [
        share(SPOKEN[topic][rung][kind], points)
        for rung, kind in found
        for (other, same), points in found.items()
        if other != rung and same == kind
    ]
    assert statistics.mean(elsewhere) <= 0.125


@pytest.mark.parametrize("topic", SPOKEN)
def test_words_that_fit_every_step_earn_little(topic: str) -> None:
    """A list earns half of what it names, and a third of the points at most.

    Sentences are allowed 0.4 of a step, whose smaller point some of them may happen to say.
    """
    for points in (rounds.read_interview(topics.load(topic)).points, *steps(topic).values()):
        assert share(DROPPED["a list"], points) <= 1 / 3, points[0].text
        assert share(DROPPED["sentences"], points) <= 0.4, points[0].text
