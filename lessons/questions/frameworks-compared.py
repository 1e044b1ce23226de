"""Probes of frameworks-compared: choices, builds, pages and throughput within a limit."""

BATCHES = (1, 4, 16, 64)
PAGE = 16  # tokens

CASES = {
    "A fixed vision model at the lowest latency on one kind of NVIDIA GPU.": (
        "TensorRT",
        "with one architecture and fixed shapes, tuning by measurement gains most",
    ),
    "A desktop program that has to run on whatever GPU or CPU customers have.": (
        "ONNX Runtime",
        "it has one model format and API, providers for many devices, and the CPU as fallback",
    ),
    "A chat service for a thousand users of a 70-billion model.": (
        "vLLM or SGLang",
        "a paged cache, continuous batching and tensor parallelism matter most there",
    ),
    "A keyboard app with a model of 5 MB, on phones of two systems.": (
        "ExecuTorch or LiteRT",
        "they have a small binary, ARM kernels and delegates for NPUs",
    ),
    "A new accelerator without any software, for which code has to be generated.": (
        "TVM or IREE",
        "they are compilers to which a new code generator can be added",
    ),
    "A classifier with rare operators on servers of three vendors, one code base.": (
        "ONNX Runtime",
        "it has providers for all three, and a fallback for operators that one of them lacks",
    ),
}

TODAY = {
    "script the model with torch.jit, load it in C++": (
        "torch.export with AOTInductor",
        "TorchScript is deprecated",
    ),
    "serve the language model with Text Generation Inference": (
        "vLLM or SGLang",
        "TGI is in maintenance mode and recommends them",
    ),
    "import the model into Relay and tune it": ("Relax", "Relay was removed from TVM in 0.20"),
    "convert to TensorFlow Lite": ("LiteRT", "TensorFlow Lite was renamed in 2024"),
    "set TensorRT's INT8 flag and attach a calibrator": (
        "Q/DQ nodes in the model",
        "TensorRT 11 has strongly typed networks only",
    ),
    "run ONNX Runtime in the browser through WebGL": (
        "a WebGPU provider",
        "ONNX Runtime's WebGL backend is deprecated",
    ),
}


def take_for(case: str) -> dict[str, str]:
    """What suits a case."""
    name, why = CASES[case]
    return {"answer": name, "why": why}


def build_hours(models: int, gpus: int, profiles: int, minutes: int) -> dict[str, float]:
    """Hours of all combinations."""
    builds = models * gpus * profiles
    return {"answer": builds * minutes / 60, "builds": builds}


def sequences_factor(slots: int, longest: int, length: int) -> dict[str, float]:
    """Sequences in pages over sequences with a reserved maximum (Kwon et al., 2023)."""
    paged_length = -(-length // PAGE) * PAGE
    reserved, paged = slots // longest, slots // paged_length
    return {"answer": paged / reserved, "reserved": reserved, "paged": paged, "paged_length": paged_length}


def wasted_tokens(page: int, sequences: int, length: int) -> dict[str, int]:
    """Unused slots of the last pages."""
    pages = -(-length // page)
    slots = pages * page
    return {"answer": sequences * (slots - length), "pages": pages, "slots": slots}


def within_limit(a: str, b: str, limit: int) -> dict[str, float]:
    """B's best throughput over A's, among batches whose latency keeps the limit."""

    def best(latencies: str) -> tuple[float, int]:
        times = [int(ms) for ms in latencies.split(", ")]
        return max((1e3 * n / ms, n) for n, ms in zip(BATCHES, times, strict=True) if ms <= limit)

    (rate_a, batch_a), (rate_b, batch_b) = best(a), best(b)
    return {
        "answer": rate_b / rate_a,
        "rate_a": rate_a,
        "rate_b": rate_b,
        "batch_a": batch_a,
        "batch_b": batch_b,
    }


def batches_compared(slow: int, batch: int, fast: int) -> dict[str, float]:
    """Throughput of a batch over that of single requests."""
    return {"answer": batch * fast / slow, "latency": slow / fast}


def today_instead(old: str) -> dict[str, str]:
    """What stands in the place of a tool."""
    name, why = TODAY[old]
    return {"answer": name, "why": why}
