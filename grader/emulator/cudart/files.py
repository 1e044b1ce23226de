"""The files in the folder of a compiled program."""

RUNTIME = "libladder_cudart.so"
"""Our runtime, which the program is linked with."""
LIBRARY = "program.so"
PTX = "program.ptx.txt"
