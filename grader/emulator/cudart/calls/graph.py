"""The runtime's calls about graphs: nodes keep calls, and a launch makes these in their order.

Each node is a thread of its own to the clocks, so that two nodes are in order by their dependencies alone.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from graphlib import CycleError, TopologicalSorter

from grader.emulator.cudart.calls.kernel import KernelCalls
from grader.emulator.cudart.calls.memory import MemoryCalls
from grader.emulator.cudart.calls.stream import StreamCalls
from grader.emulator.cudart.native import store_int, store_word
from grader.emulator.cudart.state import Call, State
from grader.emulator.cudart.status import CudaError, NotEmulated, Status
from grader.emulator.cudart.textures.array_calls import ArrayCalls
from grader.emulator.cudart.textures.structures import words_at
from grader.emulator.cudart.waiting import Waiting
from grader.emulator.streams.clocks import Clock, join

KERNEL, MEMCPY, MEMSET, HOST, CHILD, EMPTY = range(6)
"""cudaGraphNodeType."""
_AUTO_FREE, _UPLOAD, _DEVICE_LAUNCH = 1, 2, 4
"""cudaGraphInstantiateFlags."""
_SUCCESS, _TOPOLOGY_CHANGED = 0, 2
"""cudaGraphExecUpdateResult."""


class _KernelParams(ctypes.Structure):
    """cudaKernelNodeParams."""

    _fields_ = [
        ("function", ctypes.c_uint64), ("shape", ctypes.c_uint32 * 6), ("shared", ctypes.c_uint32),
        ("arguments", ctypes.c_uint64), ("extra", ctypes.c_uint64),
    ]  # fmt: skip


class _MemsetParams(ctypes.Structure):
    """cudaMemsetParams."""

    _fields_ = [
        ("to", ctypes.c_uint64), ("pitch", ctypes.c_uint64), ("value", ctypes.c_uint32), ("element", ctypes.c_uint32),
        ("width", ctypes.c_uint64), ("height", ctypes.c_uint64),
    ]  # fmt: skip


@dataclass(frozen=True)
class Node:
    """A node of a graph."""

    kind: int
    call: Call
    """The one that added it."""
    run: Callable[[int], object]
    """Does its work, as the thread that it is given."""
    after: frozenset[int]
    """The nodes that it comes behind."""


Graph = dict[int, Node]
"""The nodes by their handles, in the order in which they were added."""


@dataclass
class Executable:
    """A graph as it is launched."""

    nodes: Graph
    """Each behind those that it depends on."""
    threads: dict[int, int]
    """Of the nodes."""
    clock: Clock[int] = field(default_factory=dict)
    """Of the launch before, which the next one comes behind."""


class GraphCalls:
    """Methods are named as the runtime's functions, and take their arguments as 64-bit words."""

    def __init__(
        self, state: State, waiting: Waiting, streams: StreamCalls, memory: MemoryCalls, arrays: ArrayCalls,
        kernels: KernelCalls,
    ) -> None:  # fmt: skip
        self.state, self.waiting, self.streams = state, waiting, streams
        self.memory, self.arrays, self.kernels = memory, arrays, kernels
        self._handles = itertools.count(1 << 32, 0x10)  # of threads, too, of which none may be a stream's
        self._graphs: dict[int, Graph] = {}
        self._executables: dict[int, Executable] = {}

    # -- graphs -----------------------------------------------------------------------------------------------
    def cudaGraphCreate(self, out: int, flags: int) -> None:
        store_word(out, self.new_graph({}))

    def new_graph(self, nodes: Graph) -> int:
        """The handle of a graph."""
        handle = next(self._handles)
        self._graphs[handle] = nodes
        return handle

    def cudaGraphDestroy(self, graph: int) -> None:
        self._graph(graph)
        del self._graphs[graph]

    def cudaGraphClone(self, out: int, graph: int) -> None:
        nodes = self._graph(graph)
        new = {node: next(self._handles) for node in nodes}
        cloned = {
            new[handle]: replace(node, after=frozenset(new[each] for each in node.after))
            for handle, node in nodes.items()
        }
        store_word(out, self.new_graph(cloned))

    def cudaGraphGetNodes(self, graph: int, out: int, count: int) -> None:
        _listed(list(self._graph(graph)), out, count)

    def cudaGraphGetRootNodes(self, graph: int, out: int, count: int) -> None:
        _listed([handle for handle, node in self._graph(graph).items() if not node.after], out, count)

    def cudaGraphNodeGetType(self, node: int, out: int) -> None:
        store_int(out, self._graph_of(node)[node].kind)

    def cudaGraphAddDependencies(self, graph: int, befores: int, afters: int, edges: int, count: int) -> None:
        if edges:
            raise NotEmulated("edges of graphs with data of their own are not emulated")
        nodes = self._graph(graph)
        for before, after in zip(words_at(befores, count), words_at(afters, count), strict=True):
            _check_nodes(nodes, [before, after])
            nodes[after] = replace(nodes[after], after=nodes[after].after | {before})

    def _graph(self, graph: int) -> Graph:
        if graph not in self._graphs:
            raise CudaError(Status.InvalidValue, "this is no graph, or one that has been destroyed")
        return self._graphs[graph]

    def _graph_of(self, node: int) -> Graph:
        found = next((nodes for nodes in self._graphs.values() if node in nodes), None)
        if found is None:
            raise CudaError(Status.InvalidValue, "this is no node of a graph")
        return found

    # -- nodes ------------------------------------------------------------------------------------------------
    def cudaGraphAddKernelNode(self, out: int, graph: int, before: int, count: int, about: int) -> None:
        self._add_to(out, graph, before, count, KERNEL, self._kernel(about))

    def cudaGraphAddMemcpyNode(
        self, out: int, graph: int, before: int, count: int, about: int, kind: int
    ) -> None:
        """`about` are a Copy3D's words."""
        run = partial(self.arrays.cudaMemcpy3DAsync, self.state.kept(about, 17 * 8), kind)
        self._add_to(out, graph, before, count, MEMCPY, run)

    def cudaGraphAddMemcpyNode1D(
        self, out: int, graph: int, before: int, count: int, to: int, source: int, nbytes: int, kind: int
    ) -> None:
        run = partial(self.memory.cudaMemcpyAsync, to, source, nbytes, kind)
        self._add_to(out, graph, before, count, MEMCPY, run)

    def cudaGraphAddMemsetNode(self, out: int, graph: int, before: int, count: int, about: int) -> None:
        has = _MemsetParams.from_address(about)
        if has.element not in (1, 2, 4):
            raise CudaError(Status.InvalidValue, f"elements of {has.element} bytes: there may be 1, 2 or 4")
        pitch = has.pitch if has.height > 1 else has.width * has.element
        value = int(has.value).to_bytes(4, "little")[: has.element]
        run = partial(self.memory.fill, has.to, pitch, value, has.width * has.element, has.height)
        self._add_to(out, graph, before, count, MEMSET, run)

    def cudaGraphAddHostNode(self, out: int, graph: int, before: int, count: int, about: int) -> None:
        function, data = words_at(about, 2)
        self._add_to(out, graph, before, count, HOST, self._host_function(function, data))

    def _host_function(self, function: int, data: int) -> Callable[[int], object]:
        return lambda thread: self.streams.cudaLaunchHostFunc(thread, function, data)

    def cudaGraphAddEmptyNode(self, out: int, graph: int, before: int, count: int) -> None:
        self._add_to(out, graph, before, count, EMPTY, lambda thread: None)

    def cudaGraphAddChildGraphNode(self, out: int, graph: int, before: int, count: int, child: int) -> None:
        run = partial(self.run, self.instantiated(self._graph(child)))
        self._add_to(out, graph, before, count, CHILD, run)

    def _kernel(self, about: int) -> Callable[[int], object]:
        has = _KernelParams.from_address(about)
        if has.extra:
            raise NotEmulated("arguments of a kernel node in its member `extra`", "use kernelParams")
        arguments = self.kernels.kept_arguments(has.function, has.arguments)
        gx, gy, gz, bx, by, bz = has.shape
        return partial(
            self.kernels.cudaLaunchKernel, has.function, gx, gy, gz, bx, by, bz, arguments, has.shared
        )

    def _add_to(
        self, out: int, graph: int, before: int, count: int, kind: int, run: Callable[[int], object]
    ) -> None:
        store_word(out, self.add(self._graph(graph), kind, run, words_at(before, count) if count else []))

    def add(self, nodes: Graph, kind: int, run: Callable[[int], object], after: Sequence[int]) -> int:
        """A new node, of the call that is being served; its handle."""
        _check_nodes(nodes, after)
        handle = next(self._handles)
        nodes[handle] = Node(kind, self.state.call, run, frozenset(after))
        return handle

    # -- launches ---------------------------------------------------------------------------------------------
    def cudaGraphInstantiate(self, out: int, graph: int, flags: int) -> None:
        if flags & ~(_AUTO_FREE | _UPLOAD):
            what = "launches of graphs from kernels" if flags & _DEVICE_LAUNCH else f"the flags {flags:#x}"
            raise NotEmulated(f"{what} (cudaGraphInstantiateFlags)")
        handle = next(self._handles)
        self._executables[handle] = self.instantiated(self._graph(graph))
        store_word(out, handle)

    cudaGraphInstantiateWithFlags = cudaGraphInstantiate

    def instantiated(self, graph: Graph) -> Executable:
        """Raises CudaError where nodes depend on each other in a circle."""
        nodes = _ordered(graph)
        threads = {each: next(self._handles) for each in nodes}
        self.waiting.nodes.update(threads.values())
        self.waiting.uses.several = True
        return Executable(nodes, threads)

    def cudaGraphExecDestroy(self, executable: int) -> None:
        self.executable(executable)
        del self._executables[executable]

    def cudaGraphExecKernelNodeSetParams(self, executable: int, node: int, about: int) -> None:
        found = self.executable(executable)
        if node not in found.nodes or found.nodes[node].kind != KERNEL:
            raise CudaError(Status.InvalidValue, "this is no kernel node of the graph")
        found.nodes[node] = replace(found.nodes[node], run=self._kernel(about))

    def cudaGraphExecUpdate(self, executable: int, graph: int, result: int) -> None:
        """`result`: where the runtime's structure begins with what became of it."""
        found, new = self.executable(executable), _ordered(self._graph(graph))
        same = _topology(found.nodes) == _topology(new)
        store_int(result, _SUCCESS if same else _TOPOLOGY_CHANGED)
        if not same:
            raise CudaError(Status.GraphExecUpdateFailure, "the new graph has other nodes or dependencies")
        for (handle, old), node in zip(list(found.nodes.items()), new.values(), strict=True):
            found.nodes[handle] = replace(node, after=old.after)

    def cudaGraphUpload(self, executable: int, stream: int) -> None:
        self.executable(executable)

    def cudaGraphLaunch(self, executable: int, stream: int) -> None:
        self.streams.check(stream)
        self.run(self.executable(executable), stream)

    def executable(self, executable: int) -> Executable:
        """Raises CudaError where this is none."""
        if executable not in self._executables:
            raise CudaError(
                Status.InvalidValue, "this is no executable graph, or one that has been destroyed"
            )
        return self._executables[executable]

    def run(self, executable: Executable, stream: int) -> None:
        """Does the work of all nodes as a piece of work of a stream, or of the thread of a node."""
        clock = self.waiting.clocks.of(self.waiting.work(stream).stream)
        join(clock, executable.clock)
        threads = {node: self.waiting.clocks.of(thread) for node, thread in executable.threads.items()}
        for handle, node in executable.nodes.items():
            for before in (clock, *(threads[each] for each in node.after)):
                join(threads[handle], before)
            with self.state.serving(node.call):
                node.run(executable.threads[handle])
            if self.state.sticky:
                break
        for each in threads.values():
            join(clock, each)
        executable.clock = dict(clock)


def _ordered(graph: Graph) -> Graph:
    """The nodes, each behind those that it depends on."""
    try:
        order = list(TopologicalSorter({handle: graph[handle].after for handle in graph}).static_order())
    except CycleError:
        raise CudaError(
            Status.InvalidValue, "the nodes of the graph depend on each other in a circle"
        ) from None
    return {each: graph[each] for each in order}


def _listed(handles: list[int], out: int, count: int) -> None:
    """As the runtime lists things: their number alone where there is no room given."""
    room = words_at(count, 1)[0] if out else 0
    for number, handle in enumerate(handles[:room]):
        store_word(out + 8 * number, handle)
    store_word(count, min(room, len(handles)) if out else len(handles))


def _check_nodes(nodes: Graph, handles: Sequence[int]) -> None:
    if any(each not in nodes for each in handles):
        raise CudaError(Status.InvalidValue, "a dependency is no node of this graph")


def _topology(nodes: Graph) -> list[tuple[int, list[int]]]:
    numbers = {handle: number for number, handle in enumerate(nodes)}
    return [(node.kind, sorted(numbers[each] for each in node.after)) for node in nodes.values()]
