"""The beginning of a child: a process that starts, and how it is spoken to.

That needs neither NumPy nor LLVM here, so a child which takes long to start can be begun before they are imported.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from typing import IO

from grader.emulator.cache import CHOOSE_FOLDER, cache_folder, made_folder
from grader.errors import WarpladderError
from grader.sandbox.box import Box
from grader.sandbox.start import end, start


@dataclass(frozen=True)
class Role:
    """What a child is for: the module that serves there, and what it may do."""

    module: str
    box: Box
    title: str  # in messages
    emulates: bool = False  # it may load the emulator's runtime


def launching(device: str) -> Role:
    """A child that launches: no code of a stranger's runs in it but kernels."""
    gpu = device != "emulator"
    kept = made_folder()
    if kept is None and not gpu:
        raise WarpladderError(
            f"the cache {cache_folder()}, in which compiled kernels are kept, cannot be written",
            remedy=CHOOSE_FOLDER,
        )
    folders = [kept, tempfile.gettempdir() if gpu else None]
    box = Box(writes=tuple(str(folder) for folder in folders if folder), gpu=gpu, open_files=4096)
    module = "grader.judge.child.early" if gpu else "grader.judge.child.server"
    return Role(module, box, "the process that launched the kernel", device != "pycuda")


RECORDING = Role(
    "grader.judge.child.recording",
    Box(threads=False, foreign=True, file_bytes=1 << 20, cpu_seconds=600, open_files=64),
    "the process in which the schedule runs",
)
"""A child in which a stranger's Python runs: it reads the packages that it imports, and writes nothing."""


@dataclass(frozen=True)
class Begun:
    """A process that was begun, and its files."""

    role: Role
    process: subprocess.Popen[bytes]
    memory: int  # shared with it
    requests: int  # to be written to
    replies: int
    output: IO[bytes]
    errors: IO[bytes]

    def close(self, wait: bool = True) -> None:
        """End it, whatever it is doing, and free what is shared with it; see `end`."""
        end(self.process, wait)
        for descriptor in (self.requests, self.replies, self.memory):
            os.close(descriptor)
        self.errors.close()
        self.output.close()


def begin(
    device: str,
    arch: str = "",
    threads: int | None = None,
    role: Role | None = None,
    cores: int | None = None,
) -> Begun:
    """Start a child, without waiting for it, but for the emulator's runtime where a machine has none yet."""
    role = role or launching(device)
    if role.emulates:
        from grader.emulator.runtime.build import prepare

        prepare()  # before the child's clock runs
    memory = os.memfd_create("ladder-judge")
    output, errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
    child_requests, requests = os.pipe()
    replies, child_replies = os.pipe()
    for descriptor in (requests, replies):
        os.set_blocking(descriptor, False)
    descriptors = (child_requests, child_replies, memory, *([] if cores is None else [cores]))
    process = start(
        role.box,
        role.module,
        [device, arch, "all" if threads is None else str(threads), *map(str, descriptors)],
        stdout=output,
        stderr=errors,
        pass_fds=descriptors,
        variables=_variables(),
    )
    os.close(child_requests)
    os.close(child_replies)
    return Begun(role, process, memory, requests, replies, output, errors)


def _variables() -> dict[str, str]:
    """What a child's libraries are told: where they may keep what they compile, and to start no threads."""
    cache = cache_folder().absolute()
    return {
        "WARPLADDER_CACHE": str(cache),
        "CUPY_CACHE_DIR": str(cache / "cupy"),
        "OPENBLAS_NUM_THREADS": "1",
    }
