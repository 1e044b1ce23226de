"""The fresh process in which NVRTC runs: a marshalled request on stdin, a marshalled answer on stdout.

Started by `compilation.py`; it imports only what starts in a few milliseconds.
"""

import ctypes
import marshal
import sys

MOST_LOGGED = 1 << 20
"""Bytes of the compiler's log."""


def answer(request: dict) -> dict:  # type: ignore[type-arg]
    """Compile `source` and return status, log, PTX, cubin and lowered names (bytes, as NVRTC gives them)."""
    ctypes.CDLL(request["builtins"], mode=ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(request["library"])
    program = ctypes.c_void_p()
    status = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), request["source"], request["name"], 0, None, None
    )
    if status:
        return {"status": status, "log": b"NVRTC could not read the source"}
    for name in request["names"]:
        nvrtc.nvrtcAddNameExpression(program, name)
    options = request["options"]
    status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))

    def output(what: str) -> bytes:
        size = ctypes.c_size_t()
        if getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)):
            return b""
        buffer = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
        return buffer.raw

    def lowered(name: bytes) -> bytes:
        symbol = ctypes.c_char_p()
        nvrtc.nvrtcGetLoweredName(program, name, ctypes.byref(symbol))
        return symbol.value or b""

    result = {"status": status, "log": output("ProgramLog").rstrip(b"\0")[:MOST_LOGGED]}
    if status == 0:
        result["ptx"] = output("PTX").rstrip(b"\0")
        result["cubin"] = output("CUBIN")
        result["lowered"] = {name: lowered(name) for name in request["names"]}
    return result


def main(arguments: list[str]) -> None:
    """Answer one request."""
    marshal.dump(answer(marshal.load(sys.stdin.buffer)), sys.stdout.buffer)
