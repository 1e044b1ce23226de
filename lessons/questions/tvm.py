"""Probes of tvm: functions, schedules and the size of a search."""

FLOAT = 4
CONVERTER, RULE = "frontend converter", "schedule rule"
INTRINSIC, EXTERNAL = "tensor intrinsic", "BYOC patterns and code generator"
PLACES = {
    "Importing stops at an ATen operator that could be made of existing ones.": (
        CONVERTER,
        "after the conversion the rest of the compiler needs nothing new",
    ),
    "A decode product of one row compiles and reaches a tenth of the bandwidth.": (
        RULE,
        "the computation is right, but its mapping to the hardware is not",
    ),
    "The CPU has a new instruction for dot products of four bytes, and loops do not use it.": (
        INTRINSIC,
        "once it is declared, tensorize replaces an inner loop by it",
    ),
    "An NPU comes with a closed compiler that takes whole convolution blocks.": (
        EXTERNAL,
        "they cut out subgraphs and hand them to that compiler",
    ),
    "All reductions over a short last axis leave most threads idle.": (
        RULE,
        "it can bind the loops to threads in another way",
    ),
    "The vendor's library has a fused attention that is to replace a subgraph.": (
        EXTERNAL,
        "a pattern finds the subgraph, and a call takes its place",
    ),
}


def functions_made(calls: str) -> dict[str, int | str]:
    """Distinct pairs of operator and shape."""
    distinct = list(dict.fromkeys(calls.split(", ")))
    return {"answer": len(distinct), "distinct": "; ".join(distinct)}


def blocks_bound(m: int, n: int, a: int, b: int) -> dict[str, int]:
    """Product of the outer extents."""
    return {"answer": -(-m // a) * -(-n // b), "threads": a * b}


def cached_bytes(a: int, b: int, bk: int) -> int:
    """Bytes of the two tiles that an iteration of ko reads."""
    return (a * bk + bk * b) * FLOAT


SEARCH, RULES = "MetaSchedule, by measuring candidates", "DLight's rules, without a search"
NEEDS = {
    "the fastest tiling of one fixed shape, and have the device and a night for the search": (
        SEARCH,
        "It measures samples of the search space, and a learned cost model picks the next ones",
    ),
    "decent kernels at once for a sequence length that is known only at run time": (
        RULES,
        "A search tunes for given sizes, and rules work without them",
    ),
    "a build on a machine from which the target device cannot be reached": (
        RULES,
        "A search has to measure on the device",
    ),
    "tilings compared on a phone that is connected to another machine": (
        SEARCH,
        "Its measurements run on the device, over RPC",
    ),
}


def schedule_from(need: str) -> dict[str, object]:
    """Rules or a search, by what is there to measure on."""
    answer, why = NEEDS[need]
    others = ("autotuning in the CUDA driver", "the frontend's importer")
    return {"answer": answer, "options": (SEARCH, RULES, *others), "why": why}


def tuning_minutes(layers: int, distinct: int, trials: int, seconds: int, boards: int) -> float:
    """Minutes of all trials of the distinct tasks."""
    return distinct * trials * seconds / boards / 60


def where_to_work(problem: str) -> dict[str, str]:
    """The part of TVM that a problem belongs to."""
    place, why = PLACES[problem]
    return {"answer": place, "why": why}


STEPS = {
    "whether an addition and the ReLU after it are one kernel": (
        "fusion",
        "Operators are grouped in the graph, and the loop nests of each group are merged",
    ),
    "which loop of a kernel runs over blockIdx": (
        "schedule",
        "Binding a loop to blockIdx is a step of the schedule",
    ),
    "that an operator of the graph becomes a loop nest over buffers": (
        "legalisation",
        "LegalizeOps gives each operator a PrimFunc",
    ),
    "that the file with the kernels holds CUDA C": (
        "code generation",
        "Until then TensorIR names no language of the target",
    ),
}
STEP_NAMES = ("import", "legalisation", "fusion", "schedule", "code generation")


def which_step(what: str) -> dict[str, object]:
    """The step that a property of the result comes from."""
    answer, why = STEPS[what]
    return {"answer": answer, "options": STEP_NAMES, "why": why}
