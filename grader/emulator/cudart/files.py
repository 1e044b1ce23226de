"""The files in the folder of a compiled program."""

import hashlib

RUNTIME = "libladder_cudart.so"
"""Our runtime, which the program is linked with."""
LIBRARY = "program.so"


def ptx_of(binary: str) -> str:
    """The PTX of a translation unit, by the digest of its fat binary."""
    return f"{binary}.ptx.txt"


def digest_of(binary: bytes) -> str:
    """What a fat binary is known by."""
    return hashlib.sha256(binary).hexdigest()
