"""Probes of onnx-and-mlir: versions, limits of the format, and levels of a compiler."""

LIMIT = 2**31  # bytes of a protobuf message
BYTES = {"FP32": 4, "FP16": 2, "INT8": 1, "INT4, two in a byte": 0.5}

PURPOSES = {
    "to hand a trained model from PyTorch to another vendor's runtime": (
        "ONNX",
        "it is a format that both sides know",
    ),
    "to share tiling and fusion passes among compilers for three chips": (
        "MLIR",
        "the passes work on common dialects, and only the last lowering differs",
    ),
    "to keep a graph and its weights in a file whose meaning is fixed by a version number": (
        "ONNX",
        "the opset fixes what each operator means",
    ),
    "to define the operations of a new matrix unit and to lower to them in steps": (
        "MLIR",
        "you define a dialect of your own, and patterns that lower to it",
    ),
    "to choose the fastest of several kernels by timing them": (
        "neither",
        "that is a runtime's or a builder's work, such as TensorRT's",
    ),
    "to put requests into batches": ("neither", "that is a server's work"),
}

TENSORS = "tensors (linalg)"
BUFFERS = "buffers and loops (memref, scf)"
TARGET = "target (nvvm, llvm)"
LEVELS = {
    "fusing an addition into the product before it": (
        TENSORS,
        "values have no side effects there, and both operators are still visible",
    ),
    "replacing A·B·x by A·(B·x)": (TENSORS, "there both operations are still known to be matrix products"),
    "sharing one allocation between buffers that are never alive together": (
        BUFFERS,
        "tensors are values and have no addresses; buffers have lifetimes",
    ),
    "turning a copy from global to shared memory into cp.async": (
        TARGET,
        "cp.async is an instruction of the target, and alignment is known there",
    ),
    "choosing mma.sync's shape for the architecture": (
        TARGET,
        "the target's instructions set the possible shapes",
    ),
    "removing a transpose of a transpose": (
        TENSORS,
        "after lowering to loops over memory, the two transposes are hard to recognise",
    ),
}


def purpose(task: str) -> dict[str, str]:
    """Which of the two is made for a task."""
    name, why = PURPOSES[task]
    return {"answer": name, "why": why}


def converters(m: int, n: int) -> dict[str, int]:
    """m·n less m + n."""
    return {"answer": m * n - m - n, "pairs": m * n, "common": m + n}


def version_used(changed: str, opset: int) -> int:
    """The newest version not above the imported opset (ONNX, Versioning)."""
    return max(version for version in map(int, changed.split(", ")) if version <= opset)


def traced_sum(traced: int, rows: int) -> int:
    """Ten for each recorded row."""
    return traced * 10


def largest_model(type: str) -> dict[str, float]:
    """Millions of parameters in 2^31 bytes."""
    return {"answer": LIMIT / BYTES[type] / 1e6, "size": BYTES[type]}


def where_easy(task: str) -> dict[str, str]:
    """The level at which a transformation is easiest."""
    level, why = LEVELS[task]
    return {"answer": level, "why": why}
