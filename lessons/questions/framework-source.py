"""Probes of framework-source: PyTorch's dispatcher, loops and allocator."""

FLOAT = 4
BLOCK = 512  # kMinBlockSize, as the other limits of c10/cuda/CUDACachingAllocator.cpp
MIB = 2**20
SMALL, LARGE = MIB, 10 * MIB  # requests up to and below which segments have a fixed size
SMALL_SEGMENT, LARGE_SEGMENT, ROUNDED = 2, 20, 2  # MiB

FILES = {
    "correct the gradient formula of an operator": (
        "derivatives.yaml",
        "it gives the formula of the gradient for each input",
    ),
    "see which C++ function serves an operator on CUDA": (
        "native_functions.yaml",
        "the operator's entry names the function in its dispatch table",
    ),
    "change the number of elements that a thread of an element-wise kernel handles": (
        "aten/src/ATen/native/cuda",
        "Loops.cuh and the files beside it launch all element-wise kernels",
    ),
    "find out why freed memory is not given back to the driver": (
        "c10/cuda/CUDACachingAllocator.cpp",
        "the caching allocator keeps its segments for later requests",
    ),
    "see why two element-wise operators were not fused under torch.compile": (
        "torch/_inductor",
        "Inductor's scheduler decides what is fused",
    ),
    "add an optional argument to an operator's schema": (
        "native_functions.yaml",
        "this file contains the schema, and bindings are generated from it",
    ),
}


def keys_run(made: str, where: str) -> dict[str, int | str]:
    """Autograd and backend, or the backend alone in inference mode (PyTorch, Autograd mechanics)."""
    if "inference" in where:
        return {
            "answer": 1,
            "why": "Inference mode removes the Autograd key from the set, so only the CUDA kernel runs",
        }
    return {
        "answer": 2,
        "why": "Every CUDA tensor has the Autograd key, whose kernel runs even if nothing is recorded, before CUDA's",
    }


def which_file(change: str) -> dict[str, str]:
    """Where something is decided."""
    name, why = FILES[change]
    return {"answer": name, "why": why}


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a contiguous tensor in elements, 0 where a dimension is 1 and so broadcast."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(0 if size == 1 else step)
        step *= size
    return tuple(reversed(strides))


def loop_dimensions(x: str, y: str) -> dict[str, int | str]:
    """Dimensions left where outer stride = inner stride · inner size in all tensors merge (TensorIterator)."""
    shape = tuple(int(size) for size in x.strip("()").split(","))
    other = {
        "that of x": shape,
        "only the last dimension of x": (1, 1, shape[2]),
        "the shape of x with a 1 in the middle": (shape[0], 1, shape[2]),
        "only the last two dimensions of x": (1, *shape[1:]),
    }[y]
    tensors = [_strides(shape), _strides(other)]
    left = 1 + sum(
        any(strides[d] != strides[d + 1] * shape[d + 1] for strides in tensors) for d in range(len(shape) - 1)
    )
    return {"answer": left, "x_strides": str(tensors[0]), "y_strides": str(tensors[1])}


def allocated_bytes(n: int) -> dict[str, int]:
    """Bytes of a block."""
    wanted = n * FLOAT
    return {"answer": -(-wanted // BLOCK) * BLOCK, "wanted": wanted}


def reserved_mib(kib: int) -> dict[str, int | str]:
    """MiB of the segment that a request opens."""
    size = kib * 1024
    if size <= SMALL:
        return {"answer": SMALL_SEGMENT, "why": "Requests up to 1 MiB open a segment of 2 MiB"}
    if size < LARGE:
        return {"answer": LARGE_SEGMENT, "why": "Requests below 10 MiB open a segment of 20 MiB"}
    rounded = -(-size // (ROUNDED * MIB)) * ROUNDED
    return {"answer": rounded, "why": "Larger requests are rounded up to a multiple of 2 MiB"}


def recompilations(lengths: str) -> int:
    """Distinct sizes."""
    return len(set(lengths.split(", ")))


VERSIONS = {
    "t += 1; u = t + 1; t.mul_(2)": (
        2,
        "Each in-place change of t counts, and the addition that makes u does not",
    ),
    "t = t + 1; t.relu_()": (
        1,
        "After the first statement t is a new tensor, and the second changes it in place once",
    ),
    "u = t.view(-1); u.zero_(); u += 1; t -= 1": (3, "A view shares memory and version with its base"),
    "u = t.clone(); u.zero_()": (0, "A clone has memory and a version of its own"),
}


def version_after(lines: str) -> dict[str, float | str]:
    """In-place changes of a tensor and of its views."""
    answer, why = VERSIONS[lines]
    return {"answer": answer, "why": why}
