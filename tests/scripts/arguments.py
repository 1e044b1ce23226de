"""Prints its arguments and name, imports a module beside it, and exits as it is told."""

import sys

import pycuda.autoinit  # noqa: F401
from helper_beside import greeting

print(greeting, __name__, sys.argv[1:])
if len(sys.argv) > 2:
    sys.exit(int(sys.argv[2]))
