"""The capture of streams: the runtime's calls become nodes of a graph in place of work."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field

from grader.emulator.cudart.calls.graph import CHILD, HOST, KERNEL, MEMCPY, MEMSET, Graph, GraphCalls
from grader.emulator.cudart.native import store_int, store_word
from grader.emulator.cudart.status import CudaError, NotEmulated, Status
from grader.emulator.cudart.uses import DEFAULT
from grader.emulator.cudart.waiting import LEGACY

_Method = Callable[..., int | None]
_RELAXED = 2
"""cudaStreamCaptureModeRelaxed."""
_NONE, _ACTIVE, _INVALIDATED = range(3)
"""cudaStreamCaptureStatus."""
_NODES = {
    "cudaLaunchHostFunc": HOST,
    "cudaLaunch": KERNEL,
    "cudaMemset": MEMSET,
    "cudaMemcpy": MEMCPY,
    "cudaGraphLaunch": CHILD,
}
"""How the names of calls begin that become nodes."""
_OF_MEMORY = {"cudaMallocAsync", "cudaFreeAsync", "cudaMallocFromPoolAsync"}
_UNSAFE = {
    "cudaMalloc", "cudaMallocPitch", "cudaMallocHost", "cudaHostAlloc", "cudaMallocManaged", "cudaFree", "cudaFreeHost",
    "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaEventQuery",
}  # fmt: skip
"""Calls that may not be made while a stream is captured, but in the relaxed mode."""
_NO_WORK = {
    "cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaStreamIsCapturing", "cudaStreamGetFlags",
    "cudaStreamGetPriority", "cudaStreamGetDevice", "cudaStreamSetAttribute", "cudaGraphUpload",
}  # fmt: skip
"""Calls that name a stream and are no work of it."""
_REASONS = {
    Status.StreamCaptureUnsupported: "what waits, or gives memory, is no work for a graph",
    Status.StreamCaptureImplicit: "the default stream, which waits for it",
    Status.StreamCaptureIsolation: "for an event that was not recorded in the capture",
    Status.StreamCaptureMerge: "for an event of another capture",
}


@dataclass(eq=False)
class _Capture:
    """Streams whose calls become nodes."""

    origin: int
    mode: int
    nodes: Graph = field(default_factory=dict)
    last: dict[int, set[int]] = field(default_factory=dict)
    """By stream: the nodes that its next one comes behind."""
    invalid: bool = False

    def are_joined(self) -> bool:
        """Whether all nodes come before what the first stream would do next."""
        reached, new = set[int](), set(self.last[self.origin])
        while new:
            reached |= new
            new = {before for node in new for before in self.nodes[node].after} - reached
        return reached == self.nodes.keys()


class CaptureCalls:
    """Methods are named as the runtime's functions, and take their arguments as 64-bit words."""

    def __init__(self, graphs: GraphCalls) -> None:
        self.graphs = graphs
        self._captures: dict[int, _Capture] = {}
        """By stream."""
        self._events: dict[int, tuple[_Capture, set[int]]] = {}
        """Those that were recorded in a capture: the nodes that were the last ones of the stream."""

    def cudaStreamBeginCapture(self, stream: int, mode: int) -> None:
        self.graphs.streams.check(stream)
        if stream in (DEFAULT, LEGACY):
            raise CudaError(Status.StreamCaptureUnsupported, "the default stream cannot be captured")
        if stream in self._captures:
            raise CudaError(Status.IllegalState, "the stream is being captured already")
        self._captures[stream] = _Capture(stream, mode, last={stream: set()})

    def cudaStreamEndCapture(self, stream: int, out: int) -> None:
        store_word(out, 0)
        capture = self._captures.get(stream)
        if capture is None:
            raise CudaError(Status.IllegalState, "the stream is not being captured")
        if capture.origin != stream:
            raise CudaError(Status.StreamCaptureUnmatched, "the capture was begun in another stream")
        self._captures = {each: other for each, other in self._captures.items() if other is not capture}
        if capture.invalid:
            raise CudaError(Status.StreamCaptureInvalidated, "a call before this one has ended the capture")
        if not capture.are_joined():
            reason = "work of another stream has no cudaStreamWaitEvent behind it in the stream that was captured first"
            raise CudaError(Status.StreamCaptureUnjoined, reason)
        store_word(out, self.graphs.new_graph(capture.nodes))

    def cudaStreamIsCapturing(self, stream: int, out: int) -> None:
        capture = self._captures.get(stream)
        store_int(out, _NONE if capture is None else _INVALIDATED if capture.invalid else _ACTIVE)

    def capturable(self, method: _Method) -> _Method:
        """A method of the runtime's calls, which keeps its call where the stream is captured."""
        name, parameters = method.__name__, list(inspect.signature(method).parameters)
        if name in _NO_WORK:
            return method
        if "stream" in parameters:
            return self._of_stream(method, parameters.index("stream"))
        if name in _UNSAFE:
            return self._beside(
                method,
                lambda: [each for each in self._captures.values() if each.mode != _RELAXED],
                Status.StreamCaptureUnsupported,
            )
        if name.startswith(("cudaMemcpy", "cudaMemset")):
            return self._beside(method, self._beside_default, Status.StreamCaptureImplicit)
        return method

    def _of_stream(self, method: _Method, place: int) -> _Method:
        name = method.__name__

        @functools.wraps(method)
        def served(*given: int) -> int | None:
            stream = given[place]
            capture = self._captures.get(stream)
            if name == "cudaStreamWaitEvent" and self._is_captured(given[1]):
                self._fork(stream, *self._events[given[1]])
                return None
            if capture is not None:
                self._captured(capture, method, given, place)
                return None
            if stream in (DEFAULT, LEGACY):
                _check_none(name, self._beside_default(), Status.StreamCaptureImplicit)
            if name.startswith("cudaEventRecord"):
                self._events.pop(given[0], None)
            return method(*given)

        return served

    def _beside(self, method: _Method, captures: Callable[[], list[_Capture]], status: Status) -> _Method:
        """A method that may not be called beside some captures."""

        @functools.wraps(method)
        def served(*given: int) -> int | None:
            _check_none(method.__name__, captures(), status)
            return method(*given)

        return served

    def _beside_default(self) -> list[_Capture]:
        """Captures of streams that the default stream waits for."""
        blocking = self.graphs.waiting.clocks.blocking
        return [capture for stream, capture in self._captures.items() if stream in blocking]

    def _is_captured(self, event: int) -> bool:
        return event in self._events and self._events[event][0] in self._captures.values()

    def _fork(self, stream: int, capture: _Capture, nodes: set[int]) -> None:
        """A stream waits for an event of a capture, and is captured from here on."""
        if self._captures.setdefault(stream, capture) is not capture:
            both = [capture, self._captures[stream]]
            raise _ended("cudaStreamWaitEvent", both, Status.StreamCaptureMerge)
        capture.last.setdefault(stream, set()).update(nodes)

    def _captured(self, capture: _Capture, method: _Method, given: tuple[int, ...], place: int) -> None:
        name, stream = method.__name__, given[place]
        if name.startswith("cudaEventRecord"):
            self._events[given[0]] = capture, set(capture.last[stream])
            return
        if name == "cudaStreamWaitEvent":
            raise _ended(name, [capture], Status.StreamCaptureIsolation)
        if name in _OF_MEMORY:
            raise NotEmulated(f"{name} in a stream that is captured: nodes for memory are not emulated")
        kind = next((kind for begin, kind in _NODES.items() if name.startswith(begin)), None)
        if kind is None:
            raise _ended(name, [capture], Status.StreamCaptureUnsupported)
        run = self._kept(kind, method, given, place)
        capture.last[stream] = {self.graphs.add(capture.nodes, kind, run, sorted(capture.last[stream]))}

    def _kept(
        self, kind: int, method: _Method, given: tuple[int, ...], place: int
    ) -> Callable[[int], object]:
        """What makes a call again, with what lay in memory of the host's at its time."""
        graphs, kept = self.graphs, list(given)
        parameters = list(inspect.signature(method).parameters)
        if kind == CHILD:
            return functools.partial(graphs.run, graphs.instantiated(graphs.executable(given[0]).nodes))
        if "arguments" in parameters:
            at = parameters.index("arguments")
            kept[at] = graphs.kernels.kept_arguments(given[0], given[at])
        if method.__name__ == "cudaMemcpy3DAsync":
            kept[0] = graphs.state.kept(given[0], 17 * 8)
        return lambda thread: method(*kept[:place], thread, *kept[place + 1 :])


def _check_none(name: str, captures: list[_Capture], status: Status) -> None:
    """Raises CudaError where a call is made beside captures that do not allow it."""
    if captures:
        raise _ended(name, captures, status)


def _ended(name: str, captures: list[_Capture], status: Status) -> CudaError:
    """What a call returns that captures do not allow: it ends them."""
    for capture in captures:
        capture.invalid = True
    return CudaError(status, f"{name} while a stream is captured ({_REASONS[status]})")
