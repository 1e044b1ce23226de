"""Which boards a binary runs on, by the rules of compatibility of cubins and PTX.

Source: CUDA Compiler Driver NVCC, "GPU Compilation", and CUDA Programming Guide, "Binary Compatibility" and
"PTX Compatibility"; capabilities of the boards in devices.toml.
"""

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


def without_compiling(cubin: str, ptx: str) -> dict[str, float | str]:
    """How many boards load the cubin: PTX makes no difference to that."""
    del ptx
    return _counted(_that_load(cubin))


def that_run(cubin: str, ptx: str) -> dict[str, float | str]:
    """How many boards load the cubin or can compile the PTX."""
    load, compiled = _that_load(cubin), _that_compile(ptx)
    names = [name for name in BOARDS if name in load or name in compiled]
    return _counted(names) | {"cubins": len(load), "compiled": len(compiled)}


def compile_minutes(kernels: int, ms: int, machines: int, starts: int) -> float:
    """Minutes of compilation, once on each machine."""
    del starts
    return machines * kernels * ms / 60e3


def only(image: str) -> dict[str, float | str]:
    """How many boards load a binary that holds one cubin, or PTX for one architecture, and nothing else."""
    architecture = image.split()[-1]
    names = _that_load(architecture) if "cubin" in image else _that_compile(architecture)
    if _version(architecture)[2]:
        why = "Code for a target that ends in “a” runs on this architecture only"
    else:
        why = "PTX can be compiled for its own capability and every later one"
    return _counted(names) | {"why": why}


def _that_load(cubin: str) -> list[str]:
    """Boards of the same major capability and an equal or higher minor one; with "a", of that one alone."""
    major, minor, specific = _version(cubin)
    return [
        name
        for name in BOARDS
        if _capability(name) == (major, minor)
        or (not specific and _capability(name)[0] == major and _capability(name)[1] >= minor)
    ]


def _that_compile(ptx: str) -> list[str]:
    """Boards of an equal or higher capability; with "a", of that one alone."""
    major, minor, specific = _version(ptx)
    return [
        name
        for name in BOARDS
        if _capability(name) == (major, minor) or (not specific and _capability(name) > (major, minor))
    ]


def _version(architecture: str) -> tuple[int, int, bool]:
    """("sm_90a") → 9, 0 and whether it is specific to that architecture."""
    name = architecture.split("_")[1]
    digits = name.rstrip("a")
    return int(digits[:-1]), int(digits[-1]), name != digits


def _capability(name: str) -> tuple[int, int]:
    major, minor = board(name, "").capability.name.split(".")
    return int(major), int(minor)


def _counted(names: list[str]) -> dict[str, float | str]:
    short = [name.removeprefix("NVIDIA ").removeprefix("GeForce ").removeprefix("Tesla ") for name in names]
    return {"answer": len(names), "names": ", ".join(short) or "none"}
