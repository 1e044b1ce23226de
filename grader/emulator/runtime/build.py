"""Compiles the runtime with Numba, once, and keeps it as an object file that needs no Numba to load.

`load()` gives the address of every function. Compiling takes most of a minute of one core, loading a few milliseconds;
the object is made anew when the sources, the compilers or the processor change. Whoever starts a process against a
clock calls `prepare()` before: on a busy machine a minute of a core may be a quarter of an hour. A process that is
killed meanwhile leaves no part of an object, and a lock that is gone with it.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import llvmlite.binding as llvm

from grader import modules
from grader.areas import RUNTIME, fingerprint
from grader.emulator import target
from grader.emulator.cache import cache_folder, keep, kept, locked, made_folder
from grader.emulator.runtime.names import NAMES
from grader.emulator.target import PREFIX


class Runtime:
    """The loaded runtime: function name → address. Keeps the native code alive."""

    def __init__(self, object_code: bytes, names: tuple[str, ...]) -> None:
        self._engine = target.engine()
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
        self._engine.finalize_object()
        self.addresses = {name: self._engine.get_function_address(PREFIX + name) for name in names}

    def function(self, name: str, arguments: int) -> Callable[..., int]:
        """One of the functions, to be called from Python with so many integers."""
        # As Numba has it: where the result and an exception are put, then the arguments; returned is a status.
        call = ctypes.CFUNCTYPE(
            ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * arguments
        )
        address = call(self.addresses[name])

        def called(*values: int) -> int:
            result = ctypes.c_int64()
            address(ctypes.addressof(result), None, *values)
            return result.value

        return called


_WAIT = "The emulator's runtime is compiled, once: most of a minute on a free core."


def _entry() -> Path:
    """Where the cache keeps the object for these sources, compilers and processor."""
    key = target.target_key("llvmlite", "numba") + fingerprint(RUNTIME)
    return cache_folder() / f"runtime-{hashlib.sha256(key.encode()).hexdigest()[:32]}.o"


def load() -> Runtime:
    """The runtime, from the cache or compiled now; of several processes that find it missing, one compiles it, and of
    several threads one loads it."""
    with _loading:
        return _loaded()


_loading = threading.Lock()


@functools.cache
def _loaded() -> Runtime:
    return Runtime(_code(), NAMES)


@functools.cache
def prepare() -> None:
    """Have the runtime in the cache, so that `load` in a process that starts after this does not compile it.

    Nothing is done where the cache cannot be written: what is compiled here would help nobody else.
    """
    folder = made_folder()
    if folder is not None and os.access(folder, os.W_OK):
        _code()


def _code() -> bytes:
    """The object file, from the cache or compiled now."""
    entry = _entry()
    code = kept(entry)
    if code is None:
        print(_WAIT, file=sys.stderr, flush=True)
        with locked(entry.with_suffix(".lock")):
            code = kept(entry)
            if code is None:
                code = compile_runtime()
                keep(entry, code)
    return code


def compile_runtime() -> bytes:
    """The object file: Numba brings the functions to LLVM bitcode, which is optimised as one module and compiled."""
    return target.object_code(target.optimised(llvm.parse_bitcode(_bitcode())))


def _bitcode() -> bytes:
    """From a process of its own, in which Numba is set to optimise nothing; from here where none may be started. Raises
    CalledProcessError where that process fails: it has said why on standard error."""
    command = modules.command("grader.emulator.runtime.lowering")
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, env={**os.environ, "NUMBA_OPT": "0"}, check=True
        )
    except (
        PermissionError
    ):  # a submission's process, whose cache cannot be written: right as well, but slower
        from grader.emulator.runtime.lowering import bitcode

        return bitcode()
    return done.stdout


if __name__ == "__main__":
    load()
