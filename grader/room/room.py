"""The room: who sits in it, and how the last sitting went."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path

from grader.errors import WarpladderError
from grader.interview.interviewer import Judge
from grader.interview.loops.library import Library
from grader.room.candidate import Candidate
from grader.room.sittings import Ended, Sat


class Room:
    """One candidate, one sitting at a time. Requests begin sittings, `run` holds them on a thread of its own."""

    def __init__(self, library: Library, folder: Path, judge: Judge) -> None:
        """New sittings are kept in `folder`."""
        self.library = library
        self.folder = folder
        self.judge = judge
        self.candidate = Candidate(library.topics)
        self.sat: Sat | None = None
        self.ended: Ended | None = None
        self.refused: WarpladderError | None = None  # why nothing was begun, or what ended a sitting
        self.lost = ""  # what had been typed when a sitting was ended by `refused`
        self.wanted: queue.Queue[Sat | None] = queue.Queue()  # None: nothing more
        self._beginning = threading.Lock()

    def begin(self, make: Callable[[], Sat]) -> None:
        """Have something sat, unless something is; what cannot be begun is refused."""
        with self._beginning:
            if self.sat is not None:
                return
            try:
                self.sat = make()
            except WarpladderError as error:
                self.refuse(error)
                return
            self.ended, self.refused, self.lost = None, None, ""
            self.candidate.enter()
            self.wanted.put(self.sat)

    def refuse(self, error: WarpladderError | None) -> None:
        """Show the first page, with what went wrong."""
        self.ended, self.refused, self.lost = None, error, ""
        self.candidate.touch()

    def run(self) -> None:
        """Hold one sitting after the other. KeyboardInterrupt ends the one that is held, kept, and comes back out."""
        while (sat := self.wanted.get()) is not None:
            self.hold(sat)

    def hold(self, sat: Sat) -> None:
        """Hold a sitting from its first question to its end."""
        try:
            self.ended = sat.sit(self.candidate, self.judge)
        except WarpladderError as error:
            self.refused, self.lost = error, self.candidate.typed
        self.sat = None
        self.candidate.touch()
        if self.ended is not None and not self.ended.over and not self.candidate.leaving:
            raise KeyboardInterrupt
