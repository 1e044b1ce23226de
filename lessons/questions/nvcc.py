"""What nvcc's flags put into a fat binary, and what the driver makes of it.

Source: CUDA Compiler Driver NVCC, "Options for Steering GPU Code Generation" and "GPU Compilation"; capabilities of the
boards in devices.toml. `nvcc --dryrun` of CUDA 13.0 names the same images and values of `__CUDA_ARCH__`.
"""

import re

from grader.analysis.devices import board

BOARDS = (
    "Tesla T4",
    "NVIDIA A100",
    "NVIDIA L4",
    "NVIDIA GeForce RTX 4090",
    "NVIDIA H100",
    "NVIDIA H200",
    "NVIDIA B200",
)


def images(flags: str) -> dict[str, float | str]:
    """How many cubins (sm_) and PTX (compute_) the fat binary holds."""
    held = _images(flags)
    return {"answer": len(held), "names": " and ".join(held)}


def at_once(flags: str) -> dict[str, float | str]:
    """How many boards find a cubin of their major version whose minor is not higher than theirs."""
    held = _images(flags)
    found = [name for name in BOARDS if any(_loads(image, name) for image in held)]
    return _about(found, held)


def refused(flags: str) -> dict[str, float | str]:
    """How many boards find neither a cubin that they load nor PTX that they can compile."""
    held = _images(flags)
    found = [name for name in BOARDS if not any(_loads(i, name) or _compiles(i, name) for i in held)]
    return _about(found, held)


def macro(virtual: int, real: int) -> int:
    """`__CUDA_ARCH__`: the virtual architecture alone decides it."""
    del real
    return 10 * virtual


def cubins_needed(fleet: str) -> dict[str, float | str]:
    """A cubin runs on its major version from its minor upwards: one for the lowest minor of each major version."""
    own = sorted(_capability(name) for name in BOARDS if name.split()[-1] in re.findall(r"\w+", fleet))
    lowest = dict(reversed(own))
    names = [f"sm_{major}{minor}" for major, minor in sorted(lowest.items())]
    return {"answer": len(names), "names": ", ".join(names)}


def _images(flags: str) -> list[str]:
    """`-gencode arch=…,code=…` each, or `-arch=…` with `-code=…`; `-arch=sm_XX` alone means sm_XX and compute_XX."""
    pairs = re.findall(r"-gencode arch=\S+?,code=\[?([\w,]+)", flags)
    if pairs:
        return [image for codes in pairs for image in codes.split(",")]
    architecture = re.findall(r"-arch=(\w+)", flags)[0]
    if codes := re.findall(r"-code=([\w,]+)", flags):
        return codes[0].split(",")
    virtual = architecture.replace("sm_", "compute_")
    return [virtual] if architecture == virtual else [architecture, virtual]


def _loads(image: str, name: str) -> bool:
    kind, major, minor, specific = _version(image)
    own = _capability(name)
    return kind == "sm" and (own == (major, minor) or (not specific and own[0] == major and own[1] >= minor))


def _compiles(image: str, name: str) -> bool:
    kind, major, minor, specific = _version(image)
    own = _capability(name)
    return kind == "compute" and (own == (major, minor) or (not specific and own > (major, minor)))


def _version(image: str) -> tuple[str, int, int, bool]:
    """("sm_90a") → "sm", 9, 0, and whether it is specific to that architecture."""
    kind, name = image.split("_")
    digits = name.rstrip("a")
    return kind, int(digits[:-1]), int(digits[-1]), name != digits


def _capability(name: str) -> tuple[int, int]:
    major, minor = board(name, "").capability.name.split(".")
    return int(major), int(minor)


def _about(found: list[str], held: list[str]) -> dict[str, float | str]:
    short = [name.removeprefix("NVIDIA ").removeprefix("GeForce ").removeprefix("Tesla ") for name in found]
    return {"answer": len(found), "boards": ", ".join(short) or "none", "names": " and ".join(held)}
