"""Starting a confined process, and ending it."""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from queue import SimpleQueue
from typing import IO

from grader.sandbox import bytecode
from grader.sandbox.box import DEVICES, ROOT, Box, devices, environment, packages, readable
from grader.sandbox.confine import hide
from grader.sandbox.means import NAMESPACES, Means, means

_ENTER = Path(__file__).with_name("enter.py")
_LINKS = ("/bin", "/lib", "/lib32", "/lib64")
_OF_SHELLS = 128
"""What bubblewrap, as a shell does, adds to the number of the signal that ended its process."""

Stream = int | IO[bytes]


def start(
    box: Box,
    module: str,
    arguments: Sequence[str] = (),
    *,
    stdin: Stream = subprocess.DEVNULL,
    stdout: Stream,
    stderr: Stream,
    pass_fds: Sequence[int] = (),
    variables: dict[str, str] | None = None,
    within: AbstractContextManager[object] | None = None,
) -> subprocess.Popen[bytes]:
    """Run `main(arguments)` of a module of this package in a process of its own, confined to `box`.

    It ends when this process does, whatever ends that. It starts in the folder `/`, with few of our environment's
    variables, and `variables` besides. `within` is entered in the thread that starts it.
    """
    bytecode.compile_package()
    if box.foreign and not means().files:
        hide()  # what runs there finds us under /proc
    keeper = _keeper()
    command = _command(box, module, arguments, means(), keeper.lifeline)

    def popen() -> subprocess.Popen[bytes]:
        with within or nullcontext():
            return subprocess.Popen(
                command,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(*pass_fds, keeper.lifeline),
                cwd="/",
                env={**environment(box), **(variables or {})},
                start_new_session=True,
            )

    return keeper.do(popen)


def lasting(popen: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """A process that asks to be told of our end, from whatever thread it is started: it would be told of the end of
    the thread, and the one that starts it here lasts as long as we do."""
    return _keeper().do(popen)


def end(process: subprocess.Popen[bytes], wait: bool = True) -> None:
    """End it and all that belongs to it, whatever it is doing; and `wait` until it has given back what it had."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    if wait:
        process.wait()
    else:
        threading.Thread(target=process.wait, daemon=True).start()


def how_it_ended(code: int) -> str:
    """In words, from a return code."""
    number = -code if code < 0 else code - _OF_SHELLS if means().bubblewrap and code > _OF_SHELLS else 0
    try:
        return f"signal {signal.Signals(number).name}" if number else f"exit code {code}"
    except ValueError:
        return f"exit code {code}"


def takes_more(process: subprocess.Popen[bytes], nbytes: int) -> bool:
    """Whether it and its descendants have more memory than that. Pages that are mapped at many places, as those of a
    pattern that fills a large array, count once; to know it takes longer, and is asked only where it matters."""
    return _total(process, _resident) > nbytes and _total(process, _proportional) > nbytes


def _total(process: subprocess.Popen[bytes], memory: Callable[[Path], int]) -> int:
    """The memory of it and its descendants that are there."""
    total, left = 0, [process.pid]
    while left:
        folder = Path(f"/proc/{left.pop()}")
        try:
            total += memory(folder)
            left += map(int, (folder / "task" / folder.name / "children").read_text().split())
        except (OSError, IndexError, ValueError):
            continue
    return total


def _resident(folder: Path) -> int:
    """Bytes that are mapped, by a process's folder in /proc."""
    return int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _proportional(folder: Path) -> int:
    """Bytes that are mapped, each by as much as there are maps of it: Linux's Pss. All, where that is not told."""
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
    except OSError:
        return _resident(folder)
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024


def _command(box: Box, module: str, arguments: Sequence[str], has: Means, lifeline: int) -> list[str]:
    order = {
        "path": [str(ROOT), *packages()],
        "module": module,
        "arguments": list(arguments),
        "lifeline": lifeline,
        "box": {
            "reads": readable(box),
            "writes": list(box.writes),
            "devices": devices(box),
            "landlock": has.landlock > 0,
            "as_nobody": box.foreign and has.other_user and not has.files,
            "threads": box.threads,
            "gpu": box.gpu,
            "address_bytes": box.address_bytes,
            "file_bytes": box.file_bytes,
            "cpu_seconds": box.cpu_seconds,
            "open_files": box.open_files,
        },
    }
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"  # an environment's is a link to it, or a copy
    python = os.path.realpath(os.path.join(sys.base_prefix, "bin", version))
    command = [python, "-I", "-S", str(_ENTER), marshal.dumps(order).hex()]
    return [*_namespaces(box, has.bubblewrap), *command] if has.bubblewrap else command


def _namespaces(box: Box, program: str) -> list[str]:
    """bubblewrap's part: a process table of its own, no network, and no file but those of the box."""
    found = [program, *NAMESPACES, "--proc", "/proc", "--dev", "/dev"]
    if box.gpu:
        for path in (path for path in devices(box) if path not in (*DEVICES, "/proc")):
            found += ["--dev-bind", path, path]
        found += ["--tmpfs", "/tmp"]
    else:
        found += ["--unshare-net", "--remount-ro", "/dev"]
    visible = readable(box)
    for path in visible:
        if any(str(folder) in visible for folder in Path(path).parents):
            continue  # it is seen through that folder; a link in it cannot be mounted on
        if path in _LINKS and os.path.islink(path):
            found += ["--symlink", os.readlink(path), path]
        elif not path.startswith("/proc"):
            found += ["--ro-bind", path, path]
    for path in box.writes:
        found += ["--bind", path, path]
    return [*found, "--remount-ro", "/", "--"]


class _Keeper:
    """A thread that starts processes. Nobody waits for its end: whoever joins a script's threads would for ever."""

    def __init__(self) -> None:
        self.lifeline, self._held = os.pipe()  # the end that is ours is closed when we end, and no sooner
        self._orders: SimpleQueue[tuple[Callable[[], subprocess.Popen[bytes]], Started]] = SimpleQueue()
        threading.Thread(target=self._serve, name="starts processes", daemon=True).start()

    def do(self, popen: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """The process that `popen` starts; raises what it raises."""
        started: Started = Future()
        self._orders.put((popen, started))
        return started.result()

    def _serve(self) -> None:
        while True:
            popen, started = self._orders.get()
            try:
                started.set_result(popen())
            except BaseException as error:  # of whoever asked
                started.set_exception(error)


Started = Future[subprocess.Popen[bytes]]
_keepers: dict[int, _Keeper] = {}


def _keeper() -> _Keeper:
    """The thread that starts processes; after a fork, which copies no thread, another."""
    if os.getpid() not in _keepers:
        _keepers[os.getpid()] = _Keeper()
    return _keepers[os.getpid()]
