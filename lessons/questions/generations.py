"""Probes of generations: what a compute capability has, and which code runs on it."""

from grader.analysis.devices import board

FEATURES = {
    "INT8 on Tensor Cores": "7.5",
    "`mma.sync` with E5M2 operands": "8.9",
    "`ldmatrix`": "7.5",
    "FP8 on Tensor Cores": "8.9",
}
"""The first compute capability: PTX ISA, "Target ISA Notes" of mma and ldmatrix."""

SHARES = {"all of it": 1.0, "two thirds": 2 / 3, "a third": 1 / 3, "a tenth": 0.1}
BOARDS = {"Tesla V100": "7.0", "Tesla T4": "7.5", "NVIDIA A100": "8.0", "NVIDIA L4": "8.9"}


def oldest_board(feature: str) -> dict[str, str]:
    """The first of the boards whose compute capability has the feature."""
    needed = FEATURES[feature]
    first = next(name for name, capability in BOARDS.items() if _version(capability) >= _version(needed))
    return {"answer": first, "capability": needed}


def mma_share() -> dict[str, float | str]:
    """The share of the Tensor Cores' peak that mma.sync reaches, measured on an H200 (devices.toml)."""
    gpu = board("NVIDIA H200", "sm_90")
    share = gpu.mma_flop / gpu.peak_tensor
    return {
        "answer": min(SHARES, key=lambda name: abs(SHARES[name] - share)),
        "percent": 100 * share,
        "mma": gpu.mma_flop / 1e12,
        "peak": gpu.peak_tensor / 1e12,
    }


def does_it_load(code: str, device: str) -> str:
    """What becomes of SASS or PTX for one target on a device.

    CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility" and "Architecture-Specific Features".
    """
    kind, _, target = code.split()
    digits = target.split("_")[1]
    wanted = int(digits.rstrip("a")[:-1]), int(digits.rstrip("a")[-1])
    if digits.endswith("a") and wanted != _version(device):
        return "it cannot be loaded"
    if kind == "PTX" and wanted <= _version(device):
        return "the driver compiles it first"
    if kind == "SASS" and wanted[0] == _version(device)[0] and wanted <= _version(device):
        return "it runs as it is"
    return "it cannot be loaded"


def _version(capability: str) -> tuple[int, int]:
    major, minor = capability.split(".")
    return int(major), int(minor)
