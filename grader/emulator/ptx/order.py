"""The order of basic blocks: that of the control flow graph, whatever order the compiler wrote them in.

It is a weak topological order (Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993): reverse post
order in which every loop is contiguous. A loop's head comes first, then its body, then what follows the loop, so that
a block's immediate postdominator has a higher number than all blocks on the way there. A loop to whose head several
jumps lead back is given one latch, an empty block behind its body, where its lanes reconverge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from grader.emulator.ptx.basic_blocks import EXIT, Block, cut_into_blocks
from grader.emulator.ptx.tree import Function


def build_blocks(function: Function, cuts: Collection[int] = ()) -> list[Block]:
    """The blocks of a function that can be reached, in order; `cuts` are instructions (by id) that begin a block."""
    blocks = cut_into_blocks(function, cuts)
    ordering = _Ordering(blocks)
    ordering.visit(set(range(len(blocks))), [0], in_loop=False)
    numbers = {old: new for new, old in enumerate(ordering.order)} | {EXIT: EXIT}
    for old, new in numbers.items():
        if old != EXIT:
            block = blocks[old]
            block.index = new
            block.successors = [numbers[successor] for successor in block.successors]
    return [blocks[old] for old in ordering.order]


class _Ordering:
    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        self.order: list[int] = []

    def visit(self, nodes: set[int], roots: Iterable[int], *, in_loop: bool) -> None:
        """Appends the blocks among `nodes` that `roots` lead to; one loop's blocks next to each other."""
        for component in self._components(nodes, roots):
            head = component[0]
            tails = [index for index in component if head in self.blocks[index].successors]
            inside = in_loop or bool(tails)
            self.blocks[head].in_loop = inside
            self.order.append(head)
            self.visit(set(component[1:]), _targets(self.blocks[head]), in_loop=inside)
            if len(tails) > 1:
                self._add_latch(head, tails)

    def _add_latch(self, head: int, tails: list[int]) -> None:
        latch = Block(len(self.blocks), successors=[head], in_loop=True)
        self.blocks.append(latch)
        self.order.append(latch.index)
        for index in tails:
            block = self.blocks[index]
            block.successors = [latch.index if s == head else s for s in block.successors]

    def _components(self, nodes: set[int], roots: Iterable[int]) -> list[list[int]]:
        """The strongly connected components in topological order, each with the block that is reached first in front
        (Tarjan, "Depth-first search and linear graph algorithms", 1972, without recursion)."""
        search = _Search(self.blocks, nodes)
        for root in roots:
            if root in search.open and root not in search.number:
                search.run(root)
        return search.found[::-1]


def _targets(block: Block) -> list[int]:
    """Where a block leads, the branch that a true predicate takes first, however it is written."""
    end = block.terminator
    negated = end is not None and end.predicate is not None and end.predicate[1]
    return block.successors[::-1] if negated else block.successors


class _Search:
    """A depth-first search and the components it has left behind."""

    def __init__(self, blocks: list[Block], nodes: set[int]) -> None:
        self.blocks = blocks
        self.open = set(nodes)
        """Blocks in no component yet."""
        self.found: list[list[int]] = []
        self.number: dict[int, int] = {}
        self.low: dict[int, int] = {}
        self.stack: list[int] = []

    def run(self, root: int) -> None:
        path = [self._entered(root)]
        while path:
            node, rest = path[-1]
            following = next((s for s in rest if s in self.open), None)
            if following is None:
                path.pop()
                self._leave(node, path[-1][0] if path else None)
            elif following in self.number:
                self.low[node] = min(self.low[node], self.number[following])
            else:
                path.append(self._entered(following))

    def _entered(self, node: int) -> tuple[int, Iterator[int]]:
        self.number[node] = self.low[node] = len(self.number)
        self.stack.append(node)
        return node, iter(_targets(self.blocks[node]))

    def _leave(self, node: int, parent: int | None) -> None:
        if parent is not None:
            self.low[parent] = min(self.low[parent], self.low[node])
        if self.low[node] == self.number[node]:
            component = [self.stack.pop()]
            while component[-1] != node:
                component.append(self.stack.pop())
            self.found.append(component[::-1])
            self.open.difference_update(component)
