"""The parent's end of a program's process: starts it, listens, and puts lines and names to what it hears."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO

import msgspec

from grader import modules
from grader.emulator.cudart import builds
from grader.emulator.cudart.events import (
    Block,
    Called,
    Crashed,
    Ended,
    Event,
    Failed,
    HostCall,
    HostError,
    HostFinding,
    Launched,
    Loaded,
    Noted,
    Outcome,
    Refusal,
    Refused,
    Trial,
)
from grader.emulator.cudart.files import ptx_of
from grader.emulator.cudart.lines import Lines
from grader.emulator.cudart.source import Source
from grader.emulator.cudart.toolchain import Program, toolkit
from grader.emulator.machine.records import Finding, LaunchRecord
from grader.emulator.places import GIVEN, Place
from grader.emulator.runtime.build import prepare
from grader.sandbox.scratch import Scratch

MOST_PRINTED = 64 << 20
"""Bytes of a file that a program prints to, or that its process writes otherwise."""


def run(source: Path, arguments: Sequence[str], arch: str, options: Sequence[str] = ()) -> Outcome:
    """Compile a program and run it on the emulator, with this process's standard streams as its own.

    Raises toolchain's CompilerNotFound, ProgramRefused and NotThere, and NotEmulated.
    """
    with compiled(source, arch, options) as program:
        if program.warnings:
            print(program.warnings, file=sys.stderr, flush=True)
        return program.run(arguments)


@contextmanager
def compiled(source: Path, arch: str, options: Sequence[str] = ()) -> Iterator[CompiledProgram]:
    """A program to be run as often as wanted. Raises as `run` does."""
    with Scratch() as made:
        folder = made.resolve()
        program = builds.build(source, folder, arch, options)
        for binary, text in program.ptx.items():
            (folder / ptx_of(binary)).write_text(text)
        yield CompiledProgram(program, source, arch, folder)


class CompiledProgram:
    """A program that lies compiled in a folder."""

    def __init__(self, program: Program, source: Path, arch: str, folder: Path) -> None:
        self.warnings = program.warnings
        self._program, self._source, self._arch, self._folder = program, source, arch, folder

    def run(
        self,
        arguments: Sequence[str],
        *,
        trial: Trial | None = None,
        output: IO[bytes] | None = None,
        limit_s: float | None = None,
    ) -> Outcome:
        """Run it. `output` takes what it prints, on both of its streams, up to `MOST_PRINTED` bytes; without it they
        are this process's. After `limit_s` seconds it is ended."""
        prepare()  # before the clock runs
        listener = _Listener(self._program, self._source)
        reading, writing = os.pipe()
        command = [
            *modules.command("grader.emulator.cudart.child"), str(os.getpid()), str(self._folder), str(writing),
            self._arch, msgspec.json.encode(trial).decode(), str(self._source), *arguments,
        ]  # fmt: skip
        process = subprocess.Popen(command, pass_fds=[writing], stdout=output, stderr=output)
        os.close(writing)
        if output is not None:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (MOST_PRINTED, MOST_PRINTED))
        ending = _Ending(process, limit_s)
        try:
            with _interrupts_left_to_it() if trial is None else nullcontext(), open(reading, "rb") as events:
                for line in events:
                    if line.endswith(b"\n"):  # it may have died over the last one
                        listener.hear(msgspec.json.decode(line, type=Event))
                status = process.wait()
        finally:
            ending.cancel()
        return replace(listener.outcome(status), timed_out=ending.happened, gone=self._program.gone)


class _Ending:
    """Ends a process after some seconds, unless that is cancelled before."""

    def __init__(self, process: subprocess.Popen[bytes], limit_s: float | None) -> None:
        self.happened = False
        self._process = process
        self._timer = None if limit_s is None else threading.Timer(limit_s, self._end)
        if self._timer is not None:
            self._timer.start()

    def _end(self) -> None:
        self.happened = True
        self._process.kill()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


@contextmanager
def _interrupts_left_to_it() -> Iterator[None]:
    """Ctrl-C reaches the program as well, which decides what comes of it, as it does under a shell."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Listener:
    """Makes an outcome of events."""

    def __init__(self, program: Program, source: Path) -> None:
        self._name = source.name
        self._lines = Lines(program.library, toolkit(), source.parent)
        self._source = Source(source.parent)
        self._events: list[Event] = []

    def hear(self, event: Event) -> None:
        self._events.append(event)

    def outcome(self, status: int) -> Outcome:
        found = Outcome(status=128 - status if status < 0 else status)
        host: Counter[HostFinding] = Counter()
        for event in self._events:
            match event:
                case Loaded():
                    self._lines.base = event.base
                    self._lines.look_up(
                        frame for each in self._events for frame in getattr(each, "frames", ())
                    )
                case Launched():
                    found.launches.append((self._named(event), self._place(event.frames)))
                    host.update(self._use_after_free(event))
                case Noted():
                    host.update(self._noted(event))
                case Crashed():
                    host[self._crashed(event, found.status)] += 1
                case Refused():
                    found.refused = Refusal(event.what, event.remedy, self._place(event.frames))
                case Called():
                    found.calls.append(HostCall(event.name, self._place(event.frames), event.direction))
                case Failed():
                    place = self._place(event.frames)
                    found.errors.append(HostError(event.call, place, event.error, event.reason))
                case Ended():
                    found.times_read = event.times_read
                    found.undestroyed = [
                        HostCall(name, self._place(frames)) for name, frames in event.handles
                    ]
        found.findings = [replace(finding, count=count) for finding, count in host.items()]
        return found

    def _place(self, frames: Sequence[int]) -> Place | None:
        return self._lines.place(frames)

    def _array(self, block: Block | None) -> str | None:
        """The name that memory has in the source, of the line that allocates it; of a variable its own."""
        if block is None:
            return None
        if not block.call.startswith(("cuda", "cuMem")):
            return block.call or None
        return self._source.array(self._place(block.frames))

    def _noted(self, note: Noted) -> list[HostFinding]:
        place = self._place(note.frames)
        if note.kind == "unchecked_error" and not self._source.drops_result(place):
            return []
        return [
            HostFinding(
                note.kind, place, note.call, error=note.detail, reason=note.reason, array=self._array(note.block),
                nbytes=note.nbytes, room=note.room, side=note.side, other_call=note.other_call,
                other=self._place(note.other), writes=note.writes, empty=note.empty, other_writes=note.other_writes,
                first=note.first, last=note.last, beside_default=note.beside_default, one_stream=note.one_stream,
            )
        ]  # fmt: skip

    def _crashed(self, crash: Crashed, status: int) -> HostFinding:
        return HostFinding(
            "crash", self._place(crash.frames), "", address=crash.address, writes=crash.writes,
            reason=signal.strsignal(status - 128) or "" if status > 128 else "",
        )  # fmt: skip

    # -- what kernels did -------------------------------------------------------------------------------------
    def _named(self, event: Launched) -> LaunchRecord:
        """The record, with the source's names of what its findings are about; use after free has its own finding."""
        told = (each for each in event.record.findings if not _freed(each, event.blocks))
        findings = [self._with_files(self._finding(each, event)) for each in told]
        return replace(event.record, kernel=self._lines.name(event.record.kernel), findings=tuple(findings))

    def _finding(self, finding: Finding, event: Launched) -> Finding:
        if finding.array or finding.space != "global" or finding.allocation is None:
            return finding
        base, nbytes = finding.allocation.base, finding.allocation.nbytes
        block = next((block for block in event.blocks if block.base == base), None)
        place = self._place(block.frames) if block else None
        if block is None or place is None:
            return replace(finding, array=self._array(block))
        array = self._array(block)
        copied = self._place(block.hollow[1]) if block.hollow else None
        finding = replace(
            finding,
            array=array,
            allocated=(block.call, self._given(place)),
            hollow=(block.hollow[0], self._given(copied)) if block.hollow and copied else None,
        )
        each = self._source.element_bytes(array, place) if array else None
        offset = (finding.address or 0) - base
        if not each or offset % each or nbytes % each:
            return finding
        return replace(finding, element=offset // each, shape=(nbytes // each,))

    def _given(self, place: Place) -> Place:
        return replace(place, file=GIVEN) if place.file == self._name else place

    def _with_files(self, finding: Finding) -> Finding:
        """Where not all lines of a finding are in the program's own file, that has its name, too."""
        other, phase, allocated, hollow = finding.other, finding.phase, finding.allocated, finding.hollow
        places = [
            finding.place,
            other and other.place,
            phase and phase.initialised,
            allocated and allocated[1],
            hollow and hollow[1],
        ]
        if all(at.file == GIVEN for place in places if place for at in place.stack()):
            return finding
        return replace(
            finding,
            place=finding.place.naming(self._name),
            other=other and replace(other, place=other.place.naming(self._name)),
            phase=phase and replace(phase, initialised=phase.initialised.naming(self._name)),
            allocated=allocated and (allocated[0], allocated[1].naming(self._name)),
            hollow=hollow and (hollow[0], hollow[1].naming(self._name)),
        )

    def _use_after_free(self, event: Launched) -> list[HostFinding]:
        found = []
        kernel, place = self._lines.name(event.record.kernel), self._place(event.frames)
        for finding in event.record.findings:
            block = _freed(finding, event.blocks)
            if block is not None:
                told = HostFinding(
                    "use_after_free", place, kernel, array=self._array(block), other=self._place(block.freed or []),
                    inside=self._inside(finding.place, place), writes=finding.action == "write",
                )  # fmt: skip
                found.append(told)
        return found

    def _inside(self, place: Place, launched: Place | None) -> Place | None:
        """A place in a kernel, in which the program's own file has its name if another file has a part in it."""
        if not place.line:
            return None
        files = {each.file for each in place.stack()} | ({launched.file} if launched else set())
        return place if files <= {GIVEN, self._name} else place.naming(self._name)


def _freed(finding: Finding, blocks: Sequence[Block]) -> Block | None:
    """The allocation that a finding's address lay in, where that had been given back before."""
    address = finding.address
    if finding.kind != "out_of_bounds" or finding.space != "global" or address is None:
        return None
    within = (block for block in blocks if block.base <= address < block.base + block.nbytes)
    return next((block for block in within if block.freed is not None), None)
