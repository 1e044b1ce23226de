"""Whole CUDA C++ programs on a machine without a GPU.

nvcc compiles the program as it does for a GPU, with two differences: the program becomes a shared library, and it is
linked with a CUDA runtime of ours (`runtime.cpp`) in place of NVIDIA's. PTX and ptxas's report are kept on the way
(`toolchain`), and all of it for the next time (`builds`). A process of its own (`child`) loads the library and calls
its `main`. So the program, the runtime and the emulator share one address space, and no call has to be sent anywhere:
`runtime.cpp` hands each call's arguments to Python, where a table finds the method of that name (`calls`).
What the runtime does not have, the linker misses: so it is refused by name, with its line, before anything runs.

Pointers are the emulator's addresses. Nothing is mapped there, so that a host that reads device memory faults; managed
and page-locked memory is mapped there as well, to the same pages. All work is done when it is enqueued, which is one of
the orders that CUDA allows. What the host may not see yet is protected until the host has waited for it (`waiting`):
a fault there tells the line that was too early, and the program goes on.

Every call knows the way to it, as return addresses. `lines` turns them into lines of the source, in the parent's
process (`process`), which also puts names of the source to addresses (`source`). The child tells the parent what
happens while it happens, one JSON object a line (`events`), so that a program that crashes loses nothing.

The program is the reader's own, as a script is that `ladder emulate` runs: it is not confined.
"""
