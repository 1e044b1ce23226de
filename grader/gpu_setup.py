"""What a GPU needs besides the workbook, chosen by its driver: `make gpu`, or `python -m grader.gpu_setup`.

CuPy, an NVRTC and CUDA's libraries come as wheels. PyCUDA comes as source. It is compiled with the headers of the
wheels, so that it needs a C++ compiler and no CUDA toolkit, and is made for the driver's CUDA, whatever toolkit there
may be. Where that cannot be, kernels run on the emulator.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import time
from pathlib import Path

from grader import gpu
from grader.emulator.cache import cache_folder
from grader.errors import WarpladderError
from grader.gpu import Gpu

EXTRAS = {13: "gpu", 12: "gpu-cuda12"}
"""The extra of pyproject.toml by the CUDA that its packages are made with."""

_CUPY = {13: "cupy-cuda13x", 12: "cupy-cuda12x"}
_WHEELS = {13: ("cu13",), 12: ("cuda_runtime", "cuda_nvcc", "cuda_profiler_api", "curand")}
"""The folders of `nvidia` in site-packages with what PyCUDA is compiled with; the last one has libcurand."""

_CLONE = Path(__file__).resolve().parents[1]
_PIP = (sys.executable, "-m", "pip")
_PROGRESS_SECONDS = 15.0


def main() -> int:
    """Install what the GPU of this machine needs; 1 where that cannot be, with the command that mends it."""
    try:
        found = gpu.find()
        if found is None:
            _say("No NVIDIA driver answers: kernels run on the emulator.")
            return 0
        gpu.check(found)
        install(found)
    except WarpladderError as error:
        _say(f"Kernels run on the emulator: {error.message}.")
        if error.remedy:
            _say(f"What mends it:\n  {error.remedy}")
        return 1
    return 0


def install(found: Gpu) -> None:
    """Install the packages for a GPU, and compile PyCUDA unless there is one. Raises WarpladderError."""
    cuda = found.compiled_with
    _say(f"{found.name}: installing CuPy and libraries of CUDA {cuda}, about a gigabyte ...")
    asked = requirements(EXTRAS[cuda])
    wheels = [item for item in asked if not item.startswith("pycuda")]
    # Both builds of CuPy write to the same folder; the other one is there if the driver has changed.
    other = _CUPY[12 if cuda == 13 else 13]
    subprocess.run([*_PIP, "uninstall", "--yes", other], capture_output=True, check=False)
    if subprocess.run([*_PIP, "install", "--quiet", *wheels], check=False).returncode:
        raise WarpladderError(
            "CuPy and CUDA's libraries could not be installed, pip says why", remedy=again()
        )
    if not _has_pycuda():
        _compile(next(item for item in asked if item.startswith("pycuda")), cuda)


def requirements(extra: str) -> list[str]:
    """What an extra asks for."""
    asked = importlib.metadata.requires("warpladder") or []
    return [item.partition(";")[0].strip() for item in asked if item.endswith(f"extra == '{extra}'")]


def installation(extra: str) -> str:
    """The command that installs what an extra asks for. It names the packages: Warpladder itself is on no index."""
    return shlex.join([*_PIP, "install", *requirements(extra)])


def again() -> str:
    """The command that runs this once more."""
    if Path(sys.prefix).parent.resolve() != _CLONE:
        return f"{sys.executable} -m grader.gpu_setup"
    return "make gpu" if Path.cwd() == _CLONE else f"make -C {_CLONE} gpu"


def missing() -> list[str]:
    """Debian's packages with what compiling PyCUDA needs and this machine has not."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    has_headers = Path(sysconfig.get_path("include"), "Python.h").exists()
    return [*([] if _compiler() else ["g++"]), *([] if has_headers else [f"python{version}-dev"])]


def remedy() -> str:
    """The command after which there is a PyCUDA."""
    packages = missing()
    if not packages:
        return again()
    if shutil.which("apt-get"):
        return f"{'sudo ' if os.geteuid() else ''}apt-get install {' '.join(packages)} && {again()}"
    return f"install {' and '.join(packages)} with the system's package manager, then: {again()}"


def _has_pycuda() -> bool:
    """Whether PyCUDA is there, for this driver. One that misses nothing but the driver's own library is."""
    command = [sys.executable, "-c", "import pycuda.driver"]
    done = subprocess.run(command, cwd=sys.prefix, capture_output=True, text=True, check=False)
    return done.returncode == 0 or "libcuda.so.1: cannot open" in done.stderr


def _compile(requirement: str, cuda: int) -> None:
    if missing():
        raise WarpladderError(f"PyCUDA cannot be compiled without {' and '.join(missing())}", remedy=remedy())
    _say("Compiling PyCUDA (once, some three minutes) ...")
    # pip's cache may hold a PyCUDA that was compiled with another CUDA.
    options = ["--verbose", "--no-cache-dir", "--no-deps", "--force-reinstall"]
    log = cache_folder() / "pycuda.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, log.open("w") as output:
        environment = _lay_out_toolkit(Path(folder), cuda)
        build = subprocess.Popen(
            [*_PIP, "install", *options, requirement],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )
        compiled = _watch(build, log) == 0
    # What PyCUDA itself depends on may come from the cache.
    if compiled:
        subprocess.run([*_PIP, "install", "--quiet", requirement], check=False)
    if not _has_pycuda():
        raise WarpladderError(
            f"PyCUDA could not be compiled: {_first_error(log)} (log: {log})", remedy=again()
        )


def _lay_out_toolkit(folder: Path, cuda: int) -> dict[str, str]:
    """Make a CUDA toolkit of links. Returns the environment in which PyCUDA finds it, namely beside nvcc."""
    site_packages = importlib.metadata.distribution("cuda-toolkit").locate_file("")
    wheels = [Path(str(site_packages), "nvidia", name) for name in _WHEELS[cuda]]
    for name in ("bin", "include", "lib"):
        (folder / name).mkdir()
    (folder / "bin" / "nvcc").touch()
    for header in {item.name: item for wheel in wheels for item in (wheel / "include").iterdir()}.values():
        (folder / "include" / header.name).symlink_to(header)
    (folder / "lib" / "libcurand.so").symlink_to(wheels[-1] / "lib" / "libcurand.so.10")
    compiler = _compiler() or ""
    # To the linker the driver's library is a name; the library itself is looked for when PyCUDA is imported.
    named = ["-shared", "-Wl,-soname,libcuda.so.1", "-x", "c++", os.devnull]
    output = ["-o", str(folder / "lib" / "libcuda.so")]
    subprocess.run([*shlex.split(compiler), *named, *output], check=False)
    link = f"-Wl,--no-as-needed -Wl,-rpath,$ORIGIN/../nvidia/{wheels[-1].name}/lib"
    return {
        **os.environ,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "CC": compiler,  # setuptools compiles C++ with either
        "CXX": compiler,
        "LDFLAGS": f"{os.environ.get('LDFLAGS', '')} {link}",
    }


def _compiler() -> str | None:
    """The C++ compiler: $CXX, or the usual ones."""
    usual = (shutil.which(name) for name in ("g++", "c++", "clang++"))
    return os.environ.get("CXX") or next((found for found in usual if found), None)


def _watch(build: subprocess.Popen[bytes], log: Path) -> int:
    """Wait for the build, and say now and then how far it is, by its log. Returns its status."""
    start = time.monotonic()
    while True:
        try:
            return build.wait(_PROGRESS_SECONDS)
        except subprocess.TimeoutExpired:
            files = log.read_text(errors="replace").count(" -c ")
            _say(f"  {time.monotonic() - start:.0f} s: {files} of some 40 files")


def _first_error(log: Path) -> str:
    found = re.search(r"\b(?:fatal )?error: .+", log.read_text(errors="replace"))
    return textwrap.shorten(found[0], 100, placeholder=" …") if found else "see the end of the log"


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
