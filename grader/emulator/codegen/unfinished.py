"""The registers of wgmma while it is under way: who touches them before the wait, or writes them after the last fence.

A wgmma is carried out when it is issued. For each of its registers it is noted which group it belongs to. That note
goes with the value through moves (ptx/registers/unfinished.py); any other access to the register before a
wgmma.wait_group that covers the group is a finding. Likewise it is noted of each value that may become an operand how
many fences there had been when it was there: loaded, or computed from what was there. A wgmma has to come behind a
later one, except for sums that come straight from another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grader.emulator.codegen.emitter import Emitter, unfinished_slot
from grader.emulator.codegen.values import I64
from grader.emulator.ptx.basic_blocks import EXIT, Block
from grader.emulator.ptx.instructions import destinations, is_warpgroup_product, sources
from grader.emulator.ptx.registers.unfinished import accumulators_of, factors_of, is_movable, is_move
from grader.emulator.ptx.tree import Instruction
from grader.emulator.runtime import layout

SUMS, FACTORS, WRITTEN = "sums", "factors", "written"
NEVER = -1
"""Of no group; there before any fence. As the state is filled when a block begins."""


class UnfinishedProducts:
    """The notes of the current basic block; what outlives it lies in the warp's state, behind the registers."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        known = e.plan.warpgroup
        self.followed = {SUMS: known.accumulators, FACTORS: known.factors, WRITTEN: known.reaching}
        self.notes: dict[tuple[str, str], Any] = {}

    def begin_block(self) -> None:
        self.notes = {}

    def begin(self, inst: Instruction) -> None:
        """Before an instruction: whether it touches what it must not."""
        if is_warpgroup_product(inst):
            self._check_fence(inst)
            self._report(self._latest((SUMS, name) for name in factors_of(inst)), layout.UNFINISHED_PRODUCT)
            return
        touched = self.e.plan.warpgroup.touched(inst)
        if touched:
            written = set(destinations(inst))
            kinds = [(SUMS, name) for name in sorted(touched)]
            kinds += [(FACTORS, name) for name in sorted(touched & written)]
            self._report(self._latest(kinds), layout.UNFINISHED_PRODUCT)

    def end(self, inst: Instruction) -> None:
        """After an instruction: what its results are."""
        if is_warpgroup_product(inst):
            group = self.e.b.add(self._counter(layout.W_PRODUCT_GROUPS), I64(1))
            for name in accumulators_of(inst):
                self._note(SUMS, name, group)
                self._note(WRITTEN, name, self._straight())
            for name in factors_of(inst):
                self._note(FACTORS, name, group)
            return
        for name in destinations(inst):
            taken = sources(inst)
            sums = self._latest((SUMS, source) for source in taken) if is_move(inst) else None
            self._note(SUMS, name, sums)
            self._note(FACTORS, name, None)
            if name in self.followed[WRITTEN]:
                self._note(WRITTEN, name, self._there_since(inst, taken))

    def _straight(self) -> Any:
        """How sums of a wgmma are noted: -2 less the number of fences, which their value is there since."""
        return self.e.b.sub(I64(-2), self._counter(layout.W_PRODUCT_FENCES))

    def _there_since(self, inst: Instruction, taken: Iterable[str]) -> Any:
        """How many fences there had been when a result could be computed at the earliest."""
        b = self.e.b
        if is_move(inst):
            return self._latest((WRITTEN, name) for name in taken)
        if not is_movable(inst):
            return self._counter(layout.W_PRODUCT_FENCES)
        latest: Any = None
        for noted in (self._noted(WRITTEN, name) for name in taken):
            if noted is not None:
                since = b.select(b.icmp_signed("<", noted, I64(-1)), b.sub(I64(-2), noted), noted)
                latest = since if latest is None else self._larger(since, latest)
        return latest

    def _larger(self, one: Any, other: Any) -> Any:
        return self.e.b.select(self.e.b.icmp_signed(">", one, other), one, other)

    def store(self, block: Block) -> None:
        """At the end of a block: writes what outlives it; of operands A also where their values do not."""
        alive = set().union(*(self.e.flow.live_in[s] for s in block.successors if s != EXIT))
        for (kind, name), value in self.notes.items():
            if name in alive or kind == FACTORS:
                self.e.b.store(I64(NEVER) if value is None else value, self._pointer(kind, name))

    # -- notes ------------------------------------------------------------------------------------------------
    def _counter(self, slot: int) -> Any:
        return self.e.b.load(self.e.warp_pointer(slot))

    def _pointer(self, kind: str, name: str) -> Any:
        return self.e.at(self.e.b.add(self.e.warp, I64(self.e.slots[unfinished_slot(kind, name)])), I64)

    def _note(self, kind: str, name: str, value: Any) -> None:
        if name in self.followed[kind]:
            self.notes[kind, name] = value

    def _noted(self, kind: str, name: str) -> Any:
        """A number; None stands for NEVER."""
        if name not in self.followed[kind]:
            return None
        if (kind, name) not in self.notes:
            known = unfinished_slot(kind, name) in self.e.slots
            self.notes[kind, name] = self.e.b.load(self._pointer(kind, name)) if known else None
        return self.notes[kind, name]

    def _latest(self, registers: Iterable[tuple[str, str]]) -> Any:
        """The largest of some notes; None where there is none."""
        latest: Any = None
        for kind, name in registers:
            noted = self._noted(kind, name)
            if noted is None or noted is latest:
                continue
            latest = noted if latest is None else self._larger(noted, latest)
        return latest

    # -- findings ---------------------------------------------------------------------------------------------
    def _report(self, group: Any, kind: int) -> None:
        """A finding where the group is one that no wait has covered."""
        if group is not None:
            done = self._counter(layout.W_PRODUCT_DONE)
            self._report_if(self.e.b.icmp_signed(">", group, done), kind)

    def _check_fence(self, inst: Instruction) -> None:
        """A finding where there was no fence yet, or none since an operand was written.

        Accumulators count even where scale-d leaves their values out: the registers are written all the same.
        """
        e, b = self.e, self.e.b
        fences = self._counter(layout.W_PRODUCT_FENCES)
        missing = b.icmp_signed("==", fences, I64(0))
        names = [*accumulators_of(inst), *factors_of(inst)]
        written = self._latest((WRITTEN, name) for name in names)
        if written is not None:
            missing = b.or_(missing, b.icmp_signed(">=", written, fences))
        self._report_if(missing, layout.UNFENCED_PRODUCT)
        assert e.plan.warpgroup.reaching.issuperset(names)

    def _report_if(self, holds: Any, kind: int) -> None:
        e = self.e
        with e.b.if_then(holds, likely=False):
            e.call("note_undefined", e.context, e.site_address(), I64(kind), e.active_mask())
