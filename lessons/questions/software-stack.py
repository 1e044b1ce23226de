"""Which library has what, what the toolkit holds, and which programs a driver runs.

Sources: the libraries' documentation; CUDA Compatibility, minor-version compatibility.
"""

TOOLKIT = ("cudart", "nvcc", "NVRTC", "cuBLAS", "cuFFT", "cuSPARSE", "cuRAND")
LIBRARIES = {  # by a word of the task
    "batched": ("cuBLAS", "it has dense linear algebra"),
    "triangular": ("cuBLAS", "it has dense linear algebra, including `trsm`"),
    "convolution": ("cuDNN", "it has the operators of neural networks, forward and backward"),
    "attention": ("cuDNN", "it fuses operators of neural networks, given as graphs"),
    "CSR": ("cuSPARSE", "it has sparse linear algebra"),
    "transforms": ("cuFFT", "it has Fourier transforms"),
}
TOOLKITS = ((11, 8), (12, 2), (12, 9), (13, 0))


def library_for(task: str) -> dict[str, str]:
    """The library that has it."""
    answer, why = next(found for word, found in LIBRARIES.items() if word in task)
    return {"answer": answer, "why": why}


def in_the_toolkit(names: str) -> dict[str, float | str]:
    """How many of the names the toolkit holds."""
    found = [name for name in names.split(", ") if name in TOOLKIT]
    return {"answer": len(found), "found": ", ".join(found)}


def build_seconds(layers: int, kernels: int, runs: int, us: int) -> float:
    """Seconds of timing every kernel for every layer."""
    return layers * kernels * runs * us / 1e6


def that_start(holds: str, driver: str) -> dict[str, float | str]:
    """Programs that run: a cubin within the driver's major version and older ones, PTX up to the driver's version."""
    major, minor = (int(part) for part in driver.split("."))
    if "PTX" in holds:
        found = [version for version in TOOLKITS if version <= (major, minor)]
        rule = "A driver compiles no PTX of a toolkit that is newer than the driver"
    else:
        found = [version for version in TOOLKITS if version[0] <= major]
        rule = "A cubin needs a driver of the toolkit's major version or a later one"
    return {
        "answer": len(found),
        "names": ", ".join(f"{a}.{b}" for a, b in found),
        "rule": rule,
    }
