"""Postdominators: the blocks that every path to the exit goes through."""

from __future__ import annotations

from grader.emulator.ptx.basic_blocks import EXIT, Block


class PostdominatorTree:
    """Which block every path from a block to the exit goes through first."""

    def __init__(self, blocks: list[Block]) -> None:
        count = len(blocks)
        everything = (1 << (count + 1)) - 1
        exit_bit = 1 << count
        sets = [everything] * count
        changed = True
        while changed:
            changed = False
            for block in reversed(blocks):
                meet = everything
                for successor in block.successors:
                    meet &= exit_bit if successor == EXIT else sets[successor]
                new = meet | (1 << block.index)
                if new != sets[block.index]:
                    sets[block.index] = new
                    changed = True
        self.sets = sets
        self.count = count

    def immediate(self, index: int) -> int:
        """The nearest strict post-dominator: the one that all the others post-dominate."""
        others = self.sets[index] & ((1 << self.count) - 1) & ~(1 << index)
        rest = others
        while rest:
            candidate = (rest & -rest).bit_length() - 1
            if self.sets[candidate] & others == others:
                return candidate
            rest &= rest - 1
        return EXIT
