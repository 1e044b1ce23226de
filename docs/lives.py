"""Writes the diagrams into a page: `python docs/lives.py docs/life-of-a-launch.md`; `make lives` does it for both.

A diagram is the call tree of a real run on the emulator, as `sys.setprofile` sees it. It has the calls that go from
one module into another, each function once and in order; the first sentence of its docstring stands beside it. Left
out are properties, dunder methods, private and undocumented functions, and the modules of HELPERS: what they call
counts as called by their caller.

A page is a process: what one run keeps in memory, the next does not compute again.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

from grader import cuda, emulate, ladder
from grader.emulator.cache import cache_folder
from grader.emulator.runtime import build
from grader.judge.child import process, protocol
from grader.judge.child import server as child
from grader.judge.child.executor import Executor, Memory

DOCS = Path(__file__).parent
LESSONS = DOCS.parent / "lessons"
BLOCK = re.compile(r"<!-- diagram: (\w+) -->\n.*?<!-- end -->", re.DOTALL)
WIDTH = 110
COLUMN = 58
SHORTEST = 12
"""Characters of a sentence that are worth more than a cut in the middle of a clause."""

SUBMISSION = DOCS.parent / "kernels/optimized/gemm/02_shared_tile.cu"
SCRIPT = '''
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

source = """
__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
x, y = np.ones(1000, np.float32), np.zeros(1000, np.float32)
saxpy = SourceModule(source).get_function("saxpy")
saxpy(np.float32(2), cuda.In(x), cuda.InOut(y), np.int32(1000), grid=(4, 1), block=(256, 1, 1))
'''

HELPERS = {
    "grader.cli.machine",
    "grader.cli.options",
    "grader.emulator.codegen.values",
    "grader.emulator.devices",
    "grader.emulator.pycuda_api.driver.conversion",
    "grader.emulator.pycuda_api.driver.emulation",
    "grader.emulator.pycuda_api.driver.errors",
    "grader.workbook.content",
    "grader.workbook.expressions",
    "grader.workbook.strict_toml",
    "grader.workbook.units",
}
CLOSED = {"emulator.codegen.ops.registry.handle"}
"""What these call is not shown: it differs from instruction to instruction."""
BY_THE_CLOCK = {"sandbox.start.takes_more", "emulator.machine.worker.Workers.others"}
"""Not shown, since they are called where something takes long."""


@dataclass
class Node:
    """A function in the tree, and what it called."""

    name: str = ""
    says: str = ""
    calls: list[Node] = field(default_factory=list)

    def lines(self, branch: str = "", below: str = "") -> Iterator[tuple[str, str]]:
        """Each function below and including this one, drawn, and what it says."""
        yield branch + self.name, self.says
        for call in self.calls:
            last = call is self.calls[-1]
            yield from call.lines(below + ("└ " if last else "├ "), below + ("  " if last else "│ "))


class Tree:
    """The calls that are made while `growing` is entered, down to a depth."""

    def __init__(self, depth: int) -> None:
        self.root = Node()
        self._depth = depth
        self._seen: set[str] = set()
        # Of each function under way: its module, and the node to which its calls belong; None: they are not noted.
        self._stack: list[tuple[str, Node | None, int]] = [("", self.root, 0)]

    @contextlib.contextmanager
    def growing(self) -> Iterator[None]:
        """Notes calls; objects are finalised where the last reference to them goes, not where a collection falls."""
        gc.disable()
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            gc.enable()

    def _note(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            self._stack.append(self._called(frame))
        elif event == "return" and len(self._stack) > 1:
            self._stack.pop()

    def _called(self, frame: FrameType) -> tuple[str, Node | None, int]:
        caller, node, depth = self._stack[-1]
        module = module_of(frame)
        if node is None or module is None:
            return caller, node, depth
        if frame.f_code.co_name == "<module>":
            return module, None, depth  # decorators and the like, while it is imported
        found = None if module == caller or module in HELPERS else function_of(frame)
        if found is None:
            return module, node, depth
        name = f"{module.removeprefix('grader.')}.{frame.f_code.co_qualname}"
        if name in BY_THE_CLOCK:
            return module, None, depth
        if name not in self._seen and depth < self._depth:
            self._seen.add(name)
            node.calls.append(Node(name, first_sentence(inspect.getdoc(found) or "")))
        below = next((call for call in node.calls if call.name == name), None)
        if depth == self._depth or name in CLOSED:
            return module, None, depth
        return (module, node, depth) if below is None else (module, below, depth + 1)


def module_of(frame: FrameType) -> str | None:
    """The frame's module, where it is one of `grader` or a topic's reference."""
    if frame.f_code.co_filename.startswith(str(LESSONS)):
        return (
            Path(frame.f_code.co_filename)
            .relative_to(LESSONS.parent)
            .with_suffix("")
            .as_posix()
            .replace("/", ".")
        )
    module = frame.f_globals.get("__name__", "")
    return module if module.startswith("grader.") else None


def function_of(frame: FrameType) -> Any:
    """The documented, public function or method that a frame runs; None for anything else."""
    return _named(frame.f_code.co_qualname, frame.f_globals.get(frame.f_code.co_qualname.split(".")[0]))


@functools.cache
def _named(qualified: str, found: Any) -> Any:
    """What a qualified name stands for; `found` is what its first part does."""
    parts = qualified.split(".")
    if any(part.startswith(("_", "<")) and part != "__call__" for part in parts):
        return None
    for part in parts[1:]:
        found = inspect.getattr_static(found, part)
    if isinstance(found, property | functools.cached_property) or not inspect.getdoc(found):
        return None
    return getattr(found, "__func__", found)


def first_sentence(text: str) -> str:
    """Up to the first full stop that ends a sentence, without it."""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[\w)`]\.)\s", paragraph)[0].removesuffix(".")


def drawn(root: Node) -> str:
    """The tree below `root`: names on the left, sentences on the right."""
    rows = [row for call in root.calls for row in call.lines()]
    return "\n".join(_row(f"{name:{COLUMN}}  ", says) for name, says in rows)


def _row(name: str, says: str) -> str:
    """A line of at most WIDTH; a sentence that is too long ends where one of its parts does."""
    room = WIDTH - len(name)
    if len(says) <= room:
        return f"{name}{says}".rstrip()
    clauses = [found.start() for found in re.finditer(r"[;:] | \(", says[: room - 1])]
    end = clauses[-1] if clauses and clauses[-1] > SHORTEST else says.rindex(" ", 0, room - 1)
    return f"{name}{says[:end]} …"


# ---- the runs ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def a_clean_start() -> Iterator[Path]:
    """An empty folder, also for the cache, which has the compiled runtime alone; threads are done without, and work is
    shared out as for two cores, whatever machine this is."""
    build.load()
    compiled = list(cache_folder().glob("runtime-*.o"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in compiled:
            shutil.copy(path, folder)  # no link: what it leads to, a confined child may not read
        build._loaded.cache_clear()
        build.prepare.cache_clear()
        with (
            mock.patch.dict(os.environ, WARPLADDER_CACHE=name, WARPLADDER_HOME=name),
            mock.patch.object(ThreadPoolExecutor, "submit", _done_at_once),
            mock.patch.object(os, "sched_getaffinity", return_value={0, 1}),
            mock.patch.object(process, "_LOOK_S", 60.0),  # what is done meanwhile hangs on the machine's load
        ):
            yield folder


def _done_at_once(
    self: ThreadPoolExecutor, work: Callable[..., Any], /, *given: Any, **named: Any
) -> Future[Any]:
    """What a thread would do, done here, where it can be seen."""
    future: Future[Any] = Future()
    try:
        future.set_result(work(*given, **named))
    except Exception as error:
        future.set_exception(error)
    return future


def launch() -> dict[str, str]:
    """The diagram of a script's launch."""
    tree = Tree(depth=8)
    with a_clean_start() as folder:
        script = folder / "saxpy.py"
        script.write_text(SCRIPT)
        with tree.growing():
            outcome = emulate.run(script)
    assert outcome.exit_code == 0, outcome.failure
    return {"launch": drawn(tree.root)}


def submission() -> dict[str, str]:
    """The diagrams of a grade: the parent's, and the child's, which gets the parent's requests once more."""
    parent = Tree(depth=10)
    requests = os.memfd_create("requests")
    command = ["ladder", "grade", "gemm", str(SUBMISSION), "--device", "emulator"]
    with a_clean_start(), mock.patch.object(process, "encoded", _kept(requests)):
        with (
            mock.patch.object(sys, "argv", command),
            contextlib.redirect_stdout(io.StringIO()) as printed,
            contextlib.suppress(SystemExit),
            parent.growing(),
        ):
            ladder.main()
        assert "RIGHT" in printed.getvalue(), printed.getvalue()
        return {"parent": drawn(parent.root), "child": drawn(_child(requests))}


def _kept(file: int) -> Callable[[Any], bytes]:
    """`encoded`, which writes messages into a file as well."""

    def encode_and_keep(message: Any) -> bytes:
        protocol.send(file, message)
        return protocol.encoded(message)

    return encode_and_keep


def _child(requests: int) -> Node:
    """What the child does with the requests, in this process, on memory of its own that is all zeros."""
    memory, replies = os.memfd_create("memory"), os.memfd_create("replies")
    os.truncate(memory, 1 << 30)
    os.lseek(requests, 0, os.SEEK_SET)
    tree = Tree(depth=4)
    with tree.growing(), contextlib.suppress(EOFError):
        device = cuda.select("emulator")
        child.serve(requests, replies, Executor(device, Memory(memory)))
    return tree.root


PAGES = {"life-of-a-submission.md": submission, "life-of-a-launch.md": launch}


def main(page: Path) -> None:
    """Writes the diagrams that the page's markers name."""
    diagrams = PAGES[page.name]()
    text = BLOCK.sub(
        lambda block: f"<!-- diagram: {block[1]} -->\n```text\n{diagrams[block[1]]}\n```\n<!-- end -->",
        page.read_text(encoding="utf-8"),
    )
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
