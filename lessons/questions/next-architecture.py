"""Probes of next-architecture: what loads where, and what a kernel's numbers become on another GPU.

Source: CUDA C++ Programming Guide, "Compatibility" and "Family-Specific Features"; CUDA Programming Guide, "Compute
Capabilities", for the shared memory of a block.
"""

DEVICES = {
    "T4": (7, 5), "A100": (8, 0), "RTX 4090": (8, 9), "H100": (9, 0),
    "B200": (10, 0), "B300": (10, 3), "RTX 5090": (12, 0), "DGX Spark": (12, 1),
}  # fmt: skip
SHARED = {(8, 0): 163, (8, 9): 99, (9, 0): 227, (10, 0): 227, (12, 0): 99}  # KiB, most of a block
OLD = 990.0, 3.35  # TFLOP/s and TB/s, as the probe says


def that_load(first: str, second: str) -> dict[str, int | str]:
    """GPUs on which one of two images runs."""
    by_first, by_second = (
        [name for name, cc in DEVICES.items() if _runs(image, cc)] for image in (first, second)
    )
    return {
        "answer": len({*by_first, *by_second}),
        "by_first": ", ".join(by_first) or "none of them",
        "by_second": ", ".join(by_second) or "none of them",
    }


def what_loads(device: str) -> str:
    """The cubin that fits, or else the PTX."""
    capability = _capability(device)
    for target in ("sm_100f", "sm_90a", "sm_80"):
        if _runs(f"a cubin for {target}", capability):
            return f"the cubin for {target}"
    return "what the driver makes of the PTX"


def guarded_code(guard: int, built: str) -> dict[str, int | str]:
    """The path that the first stage compiled, if the second stage's result loads on 9.0."""
    virtual, code = (part.split("=")[1] for part in built.split(","))
    arch = 10 * int(virtual.removeprefix("compute_").rstrip("a"))
    kind = "PTX" if code.startswith("compute") else "a cubin"
    if not _runs(f"{kind} for {code}", (9, 0)):
        return {
            "answer": "it does not load",
            "arch": arch,
            "why": f"And {kind} for {code} does not fit capability 9.0",
        }
    answer = "the fast path runs" if arch >= guard else "the portable path runs"
    return {"answer": answer, "arch": arch, "why": f"And {kind} for {code} runs on capability 9.0"}


def stages(size: int, m: int, k: int, n: int, other: int, device: str) -> dict[str, float]:
    """Stages that fit beside what else a block needs."""
    stage = (m + n) * k * size / 1024
    limit = SHARED[_capability(device.split("(")[1].rstrip(")"))]
    return {"answer": int((limit - other) // stage), "stage": stage, "limit": limit}


def times_faster(intensity: int, new: str) -> dict[str, float]:
    """The ratio of two rooflines at one intensity."""
    numbers = [float(word.replace(",", "")) for word in new.split() if word[0].isdigit()]
    before, after = (min(peak, intensity * bandwidth) for peak, bandwidth in (OLD, numbers))
    return {"answer": after / before, "before": before, "after": after}


def _runs(image: str, capability: tuple[int, int]) -> bool:
    """Whether a cubin or PTX for a target, with `a`, `f` or neither, runs on a capability."""
    digits = image.split("_")[1]
    number = digits.rstrip("af")
    target = int(number[:-1]), int(number[-1])
    if digits.endswith("a"):
        return target == capability
    if digits.endswith("f") or "cubin" in image:
        return target[0] == capability[0] and target <= capability
    return target <= capability


def _capability(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)
