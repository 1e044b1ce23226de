"""What runs beside the generated code: memory accesses with their counting and checking, atomics, the scheduler.

Everything here is written in the part of Python that Numba compiles to native code. It is compiled once
(build.py), kept as an object file, and called from the code that codegen generates. Addresses are plain
64-bit integers; what lies where is declared in layout.py.
"""
