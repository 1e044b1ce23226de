"""The runtime's library (`runtime.cpp`) as Python sees it, and memory of the host."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_WORDS = ctypes.POINTER(ctypes.c_uint64)
_FORWARD = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, _WORDS, _WORDS)
_FRAMES = 10
Forward = Callable[[bytes, Any, Any], int]


@dataclass(frozen=True)
class Fault:
    """The host touched what it must not touch yet."""

    slot: int
    address: int
    writes: bool
    frames: list[int]


class Native:
    """The loaded library. `forward` is called for each call of the runtime, `at_end` when the program exits."""

    def __init__(self, path: Path, forward: Forward, at_end: Callable[[], None], report: int) -> None:
        self._library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        self._forward, self._at_end = _FORWARD(forward), ctypes.CFUNCTYPE(None)(at_end)  # kept alive
        self._library.ladder_print.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        self._library.ladder_guard.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int]
        self._library.ladder_program.argtypes = [ctypes.c_uint64] * 2
        self._library.ladder_block.argtypes = [ctypes.c_uint64, _WORDS]
        self._library.ladder_start(self._forward, report, self._at_end)

    def program_lies_at(self, first: int, last: int) -> None:
        self._library.ladder_program(first, last)

    def guard(self, slot: int, first: int, last: int, protection: int) -> None:
        """Notes faults in [first, last), pages whose protection this sets."""
        self._library.ladder_guard(slot, first, last, protection)

    def faults(self) -> list[Fault]:
        """What happened since this was last asked."""
        found, words = [], (ctypes.c_uint64 * (3 + _FRAMES))()
        for number in range(self._library.ladder_faults()):
            self._library.ladder_fault(number, words)
            found.append(Fault(words[0], words[1], bool(words[2]), list(until_zero(words[3:]))))
        if found:
            self._library.ladder_faults_seen()
        return found

    def block(self, address: int) -> tuple[int, int] | None:
        """The block of malloc or new that a host address lies in: where it begins and its bytes; None: not known."""
        words = (ctypes.c_uint64 * 2)()
        return (words[0], words[1]) if self._library.ladder_block(address, words) else None

    def print(self, text: str) -> None:
        """Writes to the program's own standard output."""
        data = text.encode(errors="replace")
        self._library.ladder_print(data, len(data))


def until_zero(words: Any) -> list[int]:
    """Words up to the first that is 0."""
    found = []
    for word in words:
        if not word:
            break
        found.append(int(word))
    return found


def host_view(address: int, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The host's memory itself, writable."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))


def store(address: int, ctype: Any, value: float) -> None:
    """Sets a variable of the program's."""
    ctype.from_address(address).value = value


def store_word(address: int, value: int) -> None:
    """Sets a pointer or a size_t of the program's."""
    store(address, ctypes.c_uint64, value)


def store_int(address: int, value: int) -> None:
    store(address, ctypes.c_int32, value)
