"""The control flow graph of a kernel, and what is known of its registers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from grader.emulator.ptx.basic_blocks import Block
from grader.emulator.ptx.divergence import DivergenceAnalysis
from grader.emulator.ptx.instructions import destinations, is_strong, names_in
from grader.emulator.ptx.order import build_blocks
from grader.emulator.ptx.registers.undefined import MayBeUndefined, may_be_undefined
from grader.emulator.ptx.tree import Function


@dataclass
class ControlFlow:
    function: Function
    blocks: list[Block]
    live_in: list[set[str]]
    """Registers read in or after block i before they are written."""
    uniform: set[str]
    """Registers that hold one value for all lanes of a warp (see divergence.py, also for the next)."""
    contested: set[str]
    """Registers that are written under the lane mask."""
    loops: list[list[Block]]
    """The blocks of each loop, its head in front, which is the target of a backward jump."""
    loop_heads: set[int]
    """Where the instruction budget is checked."""
    polls: set[int]
    """Those of loops in which a thread does nothing but look whether others have changed what lies at an address."""
    reconvergence_points: dict[int, int]
    """Blocks that begin with a *.sync instruction in front of which lanes may have to wait for each other → the block
    that must not run before they go on (one behind the last where there is none)."""

    bypassed: dict[int, set[int]]
    """Block → the blocks behind the barriers that lanes have gone past, who come there while others wait."""
    preemption_points: set[int]
    """Blocks that begin with an access in front of which other blocks of the grid may have their turn."""

    wait_points: set[int]
    """Blocks that begin with an mbarrier.try_wait or a wgmma.wait_group, in front of which lanes may wait."""

    undefined: dict[str, MayBeUndefined]
    """Where there may be a value that nobody has defined, by where that comes from (see undefined.py)."""

    def crossing(self) -> set[str]:
        """Registers whose values outlive a block."""
        return set().union(*self.live_in) if self.live_in else set()


def analyse(
    function: Function,
    *,
    rows_uniform: bool,
    rotates: bool,
    seen: Collection[int] = (),
    waits: Collection[int] = (),
) -> ControlFlow:
    """Blocks and facts of an inlined kernel.

    rows_uniform: all lanes of a warp share tid.y and tid.z (the block's width is a multiple of 32).
    rotates: the scheduler may run lanes out of order (kernels that spin on memory).
    seen: accesses (by id) whose order among the blocks of the grid may matter.
    waits: instructions (by id) in front of which lanes may wait, for a phase of an mbarrier or for a warpgroup.
    """
    blocks = build_blocks(function, {*seen, *waits})
    divergence = DivergenceAnalysis(blocks, rows_uniform=rows_uniform, rotates=rotates)
    points = divergence.reconvergence_points()
    if points:
        blocks = build_blocks(function, {*points, *seen, *waits})
        divergence = DivergenceAnalysis(blocks, rows_uniform=rows_uniform, rotates=rotates)
    loops = _loops(blocks)
    return ControlFlow(
        function,
        blocks,
        divergence.live_in,
        uniform=set(function.registers) - divergence.varying,
        contested=divergence.contested,
        loops=loops,
        loop_heads={loop[0].index for loop in loops},
        polls={loop[0].index for loop in loops if _only_looks(loop)},
        reconvergence_points={
            b.index: divergence.limit(b) for b in blocks if b.instructions and id(b.instructions[0]) in points
        },
        bypassed=divergence.bypassed,
        preemption_points={b.index for b in blocks if b.instructions and id(b.instructions[0]) in seen},
        wait_points={b.index for b in blocks if b.instructions and id(b.instructions[0]) in waits},
        undefined=may_be_undefined(blocks, divergence.live_in[0]),
    )


def _loops(blocks: list[Block]) -> list[list[Block]]:
    """The blocks of each loop, its head in front: they lie next to each other (see order.py)."""
    jumps = [(head, block.index) for block in blocks for head in block.successors if 0 <= head <= block.index]
    return [blocks[head : end + 1] for head, end in jumps]


_ACTS = frozenset(
    ("st", "atom", "red", "call", "cp", "bar", "barrier", "mbarrier", "shfl", "mma", "wmma", "wgmma", "stmatrix")
)  # fmt: skip
"""Instructions by which a thread does more than compute, or look."""


def _only_looks(loop: list[Block]) -> bool:
    """Whether a loop does nothing but load, from addresses that it leaves as they are, what other threads may store."""
    instructions = [
        inst for block in loop for inst in (*block.instructions, block.terminator) if inst is not None
    ]
    written = {name for inst in instructions for name in destinations(inst)}
    looks = [inst for inst in instructions if inst.parts[0] == "ld" and is_strong(inst)]
    return (
        bool(looks)
        and all(inst.parts[0] not in _ACTS for inst in instructions)
        and all(written.isdisjoint(names_in(inst.operands[1])) for inst in looks)
    )
