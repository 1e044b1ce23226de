"""An answer that turns the right one round says none of it, though every word of it is there."""

import pytest

from grader.interview import key_points, rounds
from grader.interview.bank import load
from grader.interview.key_points import Point
from grader.workbook import topics

MOST = 0.35
"""What a reversed answer may earn of its points: something true beside the reversal."""

OF_ROUNDS = {
    ("transpose", "00_naive", "limits"): (
        "The reads are strided because the input is row major, so a load uses 32 sectors; the writes are "
        "coalesced and fine.",
        "Loads go down a column and are uncoalesced, 32 sectors each. The stores are contiguous.",
    ),
    ("transpose", "00_naive", "next"): (
        "Swap nothing. L1 makes writes cached, so use bigger blocks and exchange the GPU.",
        "Make the reads coalesced and let the writes be strided, since strided writes hurt less than reads.",
    ),
    ("transpose", "01_coalesced_writes", "limits"): (
        "The writes are strided and take 32 sectors, while the reads are coalesced, as they always were.",
    ),
    ("transpose", "02_shared_tile", "limits"): (
        "Reading a row of the tile makes bank conflicts, as all of it is in one bank. Columns are free.",
    ),
    ("transpose", "05_float4_tile", "limits"): (
        "It is compute-bound now, limited by arithmetic and not by the bandwidth of the memory.",
    ),
    ("gemm", "00_naive", "limits"): (
        "The loads of A are coalesced, but the reads of B are strided and touch 32 sectors.",
    ),
    ("gemm", "02_shared_tile", "next"): (
        "Fewer outputs per thread, so that the ratio falls from 4 to 1/2, which is what one wants.",
    ),
    ("hgemm", "00_naive", "limits"): (
        "Halves save arithmetic, as it runs on Tensor Cores already with FP32 units beside them.",
    ),
    ("reduce", "06_float4_stride", "limits"): (
        "It is compute-bound, as the additions limit it and the bandwidth is not used at all.",
    ),
    ("reduce2d", "00_naive", "limits"): (
        "The columns are uncoalesced, while the rows are coalesced, and there are too many threads.",
    ),
    ("conv2d", "05_implicit_gemm", "next"): (
        "Winograd, because it takes more products and fewer additions, with 16 for what were 4.",
    ),
}

OF_QUESTIONS = {
    "hpc-05": (
        "A CPU is built for throughput with many threads, and a GPU is made for the latency of one thread. "
        "Irregular work suits a GPU. Copies are free.",
    ),
    "hpc-08": ("Tensor Cores help most with memory-bound work, and a matrix-vector product gains a lot.",),
    "hpc-13": (
        "Neighbouring floats take 32 sectors, so they are slow. Strided floats take 4 sectors. Arrays of "
        "structures are better.",
    ),
    "hpc-14": (
        "The same word for two lanes is a conflict and is serialised. Odd strides conflict the most.",
    ),
    "hpc-15": (
        "Registers and shared memory do not limit it.",
        "The registers and the shared memory are not a limit. It exposes latency. Take the maximum of them.",
    ),
    "hpc-17": (
        "A warp's instructions start out of order, so dependent instructions are fine. Prefetching increases "
        "occupancy and costs nothing in registers.",
    ),
    "hpc-20": ("PTX is the machine code, and SASS is a virtual ISA. A cubin runs on all newer GPUs.",),
    "hpc-21": (
        "ridge point is where the bandwidth is highest. Left of it the kernel is compute bound, right of it "
        "memory bound. Tile 128x128 because a warp has 128 threads",
        "The ridge is at bandwidth over peak. To the left you are limited by arithmetic, to the right by "
        "bandwidth. Intensity is bytes per FLOP.",
    ),
    "hpc-23": ("SpMV is compute-bound with two FLOPs for eight bytes. ELL is for uneven rows.",),
    "hpc-24": (
        "Latency is the rate of results and throughput is how long one takes. In flight is throughput "
        "divided by latency. A CPU switches between warps, while a GPU shortens latency with caches.",
    ),
}


IN_FURTHER_WORDS = {
    "hpc-21": """
On the horizontal axis is the FLOP done per byte of DRAM traffic, on the vertical the rate. The corner is at
peak FLOPs divided by the memory rate, about 14 for FP32 on an H200. To the left you should cut bytes, to the
right work on arithmetic, and once you touch the line you can quit. A T by T tile does a quarter T FLOP per
byte, so on the H200 one needs 64, on a 4090 L2 has to help. It does not see latency or the caches.
    """,
    "hpc-26": """
The service runs on a newer chip than the binary was built for, so the driver has to translate the PTX and
stores the result on disk. nvcc first makes PTX for a virtual architecture, and ptxas makes a cubin for a real
one. A fat binary holds several cubins and PTX, and -gencode says which. The driver wants a cubin with equal
major number and not greater minor, otherwise it takes PTX, otherwise the launch fails. Build cubins for all
GPUs in the fleet and keep the cache on a volume.
    """,
    "hpc-13": """
The hardware fetches 32-byte sectors. Consecutive aligned floats need four. Off by one needs five. With a
stride of 8 or more each lane has its own sector. Fix it with SoA or by padding the rows.
    """,
    "hpc-15": """
It is the resident warps divided by the most an SM supports. It lets the scheduler find somebody ready when
another stalls. Registers and shared memory limit it, and so do the slots for threads and blocks on an SM. You
truncate, and the tightest one decides. A low one is right if each thread has independent work. Capping the
registers may spill.
    """,
}
"""Right answers that were not found whole."""


BOTH_SIDES: list[tuple[str, str, str, str]] = [
    (
        "transpose",
        "00_naive",
        "limits",
        (
            "Reads are fully coalesced but writes go down a column with a pitch of 4M bytes, thus "
            "each store request hits 32 sectors."
        ),
    ),
    (
        "transpose",
        "00_naive",
        "limits",
        (
            "Loading is perfect because it goes along the row, whereas storing is strided; 32 sectors"
            " per store with 4 bytes used of each."
        ),
    ),
    (
        "transpose",
        "00_naive",
        "next",
        (
            "I'd flip it so reads become strided and writes coalesced, because the cache keeps a read"
            " line around for the neighbours."
        ),
    ),
    (
        "transpose",
        "00_naive",
        "next",
        (
            "Swap the roles so that the writes are coalesced and the reads are strided. L1 caches the"
            " reads but the writes go through to L2."
        ),
    ),
    (
        "transpose",
        "01_coalesced_writes",
        "limits",
        (
            "The writes are coalesced now, but the reads are strided with 32 sectors each. It relies "
            "on L1 keeping them."
        ),
    ),
    (
        "transpose",
        "05_float4_tile",
        "limits",
        (
            "It's no longer limited by instructions, it is memory-bound and as fast as a copy. No "
            "bank conflicts and sectors are full."
        ),
    ),
    (
        "gemm",
        "00_naive",
        "limits",
        (
            "The loads of A are strided over 32 rows while B is a broadcast. Each FMA needs two loads"
            " with no reuse."
        ),
    ),
    (
        "gemm",
        "02_shared_tile",
        "limits",
        (
            "Shared memory bandwidth: two reads of shared memory per FMA. A wavefront a clock against"
            " four FMAs a clock."
        ),
    ),
    (
        "reduce",
        "00_naive",
        "limits",
        ("Warps diverge, as only every second thread adds. There are barriers at each step, too."),
    ),
    (
        "reduce",
        "06_float4_stride",
        "limits",
        ("It is memory-bound, not compute-bound: the DRAM is saturated. The second launch costs a few us."),
    ),
    (
        "reduce2d",
        "00_naive",
        "limits",
        (
            "The columns are coalesced but the row sums are strided. There are not enough threads to "
            "fill the GPU."
        ),
    ),
    (
        "conv2d",
        "",
        "",
        (
            "It's compute-bound, not memory-bound, with 59 GFLOP. Winograd needs fewer "
            "multiplications but more additions. im2col writes columns for a GEMM. FFT is for large "
            "filters. A 1 x 1 is a matrix product."
        ),
    ),
    (
        "gemm",
        "",
        "",
        (
            "It is compute-bound for large sizes and memory-bound for tiny ones. At best 2MNK divided"
            " by the peak rate. The naive one has no reuse. I'd use shared memory tiles, then "
            "register tiles of 8 x 8 per thread."
        ),
    ),
    (
        "hpc-21",
        "",
        "",
        (
            "You plot FLOP/s over FLOP per byte. The ridge is where the slope meets the flat roof, 14"
            " on an H200. Left of it one is bandwidth-bound and right of it compute-bound. With a T x"
            " T tile you get T/4. It ignores latency and caches."
        ),
    ),
    (
        "hpc-05",
        "",
        "",
        (
            "CPU cores are latency machines with big caches, GPUs hide latency by switching among "
            "many threads. Irregular code is bad for a GPU. Copies over PCIe aren't free. You need "
            "enough parallel work. Amdahl limits the rest. Expect about 10 times."
        ),
    ),
    (
        "hpc-14",
        "",
        "",
        (
            "There are 32 banks of 4 bytes. Different words of the same bank are serialised, the same"
            " word is broadcast. Odd strides have no conflicts, even strides do. Fix with padding or "
            "XOR."
        ),
    ),
]
"""Right answers that name both sides: nothing takes them back. Topic or question, rung, part, and what is said."""

IN_OTHER_WORDS: list[tuple[str, str, str, str]] = [
    (
        "transpose",
        "00_naive",
        "limits",
        (
            "Both directions are coalesced but the reading goes column by column, which touches 32 "
            "sectors per load."
        ),
    ),
    (
        "transpose",
        "00_naive",
        "next",
        ("Make reads contiguous at the expense of strided stores, since stores are buffered in L1."),
    ),
    ("transpose", "01_coalesced_writes", "limits", ("Stores are the problem, they are strided now.")),
    ("gemm", "00_naive", "limits", ("B is read with a stride, A comes in contiguously.")),
    (
        "reduce",
        "02_sequential",
        "limits",
        ("There are too many bytes in flight, so the memory is overloaded."),
    ),
    (
        "reduce2d",
        "",
        "",
        ("It is compute-bound because of the additions. Row sums are easy and column sums are uncoalesced."),
    ),
    (
        "conv2d",
        "",
        "",
        (
            "It is memory-bound, as filters are small. Winograd saves additions at the price of more "
            "multiplications. FFT is good for small filters."
        ),
    ),
    (
        "hpc-21",
        "",
        "",
        ("To the right of the ridge you are memory bound; on its left the arithmetic is the limit."),
    ),
    (
        "hpc-21",
        "",
        "",
        ("Kernels with low intensity are compute bound, those with high intensity are bandwidth bound."),
    ),
    ("hpc-05", "", "", ("CPUs maximise throughput, GPUs minimise the latency of a single thread.")),
    (
        "hpc-14",
        "",
        "",
        ("If two lanes read the same word there's a conflict; different words in one bank are fine."),
    ),
    ("hpc-24", "", "", ("GPUs have short latency thanks to caches and CPUs hide it by switching threads.")),
    ("hpc-08", "", "", ("Memory-bound kernels benefit most from Tensor Cores.")),
    ("hpc-15", "", "", ("Neither registers nor shared memory limit how many blocks fit.")),
    ("hpc-17", "", "", ("Latency is hidden by dependent instructions of the warp.")),
    ("hpc-20", "", "", ("PTX is tied to one generation whereas cubins run on every future GPU.")),
    ("hpc-13", "", "", ("Strided accesses are free, consecutive ones need 32 transactions.")),
    ("hpc-07", "", "", ("FP16 has 8 exponent bits and 7 mantissa bits. BF16 is more precise. Sum in FP16.")),
]
"""Reversals in other words."""


def points_of(where: str, rung: str, part: str) -> tuple[Point, ...]:
    """Of a question, an interview's opening, or a part of a round."""
    if where.startswith("hpc-"):
        return load(where).points
    interview = rounds.read_interview(topics.load(where))
    item = next((item for item in interview.rounds if item.rung == rung), None)
    return interview.points if item is None else item.limits if part == "limits" else item.next


def share(text: str, points: tuple[Point, ...]) -> float:
    return key_points.score(key_points.find(text, points), points)


@pytest.mark.parametrize(
    ("topic", "rung", "part", "text"), [(*key, text) for key, texts in OF_ROUNDS.items() for text in texts]
)
def test_a_reversed_answer_of_a_round_earns_little(topic: str, rung: str, part: str, text: str) -> None:
    assert share(text, points_of(topic, rung, part)) <= MOST


@pytest.mark.parametrize(("where", "rung", "part", "text"), IN_OTHER_WORDS)
def test_a_reversal_in_other_words_earns_little(where: str, rung: str, part: str, text: str) -> None:
    assert share(text, points_of(where, rung, part)) <= MOST


@pytest.mark.parametrize(("where", "rung", "part", "text"), BOTH_SIDES)
def test_a_right_answer_that_names_both_sides_is_found(where: str, rung: str, part: str, text: str) -> None:
    assert share(text, points_of(where, rung, part)) >= 0.85


@pytest.mark.parametrize(
    ("question", "text"), [(key, text) for key, texts in OF_QUESTIONS.items() for text in texts]
)
def test_a_reversed_answer_to_a_question_earns_little(question: str, text: str) -> None:
    assert share(text, load(question).points) <= MOST


@pytest.mark.parametrize("question", IN_FURTHER_WORDS)
def test_a_right_answer_in_further_words_is_found(question: str) -> None:
    assert share(IN_FURTHER_WORDS[question], load(question).points) >= 0.9


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        ("hpc-21", "The corner is at peak FLOPs divided by the memory rate, about 14.", "The ridge point is"),
        ("hpc-21", "To the left you should cut bytes, and once you touch the line you can quit.", "It says what"),
        ("hpc-21", "With square tiles there is a quarter T FLOP per byte to be had.", "A tile of T × T"),
        ("hpc-26", "It has a newer chip, so the driver has to translate the PTX and stores the result on disk.",
         "No cubin fits"),
        ("hpc-26", "A cubin needs an equal major number and not greater minor, otherwise the PTX is compiled.",
         "The driver takes a cubin"),
        ("hpc-13", "Consecutive aligned floats need four.", "32 neighbouring, aligned floats"),
        ("hpc-13", "Off by one needs five.", "A shift costs one sector more"),
        ("hpc-15", "It lets the scheduler find somebody ready when another stalls.", "It hides latency"),
        ("hpc-15", "You truncate, and the tightest one decides.", "Blocks fit whole"),
        ("hpc-15", "Registers and shared memory limit it, and more does not always help.", "Registers and shared"),
        ("hpc-21", "Left of the ridge memory is the limit, right of it compute, so that is its bottleneck.",
         "It says what"),
    ],
)  # fmt: skip
def test_a_point_is_found_in_further_words(question: str, text: str, said: str) -> None:
    points = [point for point in load(question).points if point.text.startswith(said)]
    assert key_points.find(text, points) == ["explained"]


@pytest.mark.parametrize(
    ("topic", "rung", "part", "text", "said"),
    [
        ("hgemm", "00_naive", "limits", "Every FMA drags two fetches, two half-to-float casts and index work.",
         "Instructions"),
        ("transpose", "03_padded_tile", "next", "Load four floats with one instruction.", "float4 accesses"),
        ("transpose", "", "opening", "It moves 2 GB over 4.8 TB/s, about 450 us.", "No version is faster"),
        ("transpose", "00_naive", "limits", "The reads are fine but the writes are strided, 32 sectors a store.",
         "The writes are strided"),
        ("transpose", "00_naive", "limits", "It's the stores: they are strided, and the loads aren't.",
         "The writes are strided"),
    ],
)  # fmt: skip
def test_a_point_of_a_round_is_found_in_further_words(
    topic: str, rung: str, part: str, text: str, said: str
) -> None:
    all_points = points_of(topic, rung, part)
    assert key_points.find(text, [point for point in all_points if point.text.startswith(said)]) == [
        "explained"
    ]
