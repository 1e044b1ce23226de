"""Running a module of this package in another Python process."""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = str(Path(__file__).resolve().parents[1])

# Once the package is imported, its modules come from where it lies: the path is only lent.
_RUNS = """
import runpy, sys
sys.path.insert(0, {root!r})
import grader
del sys.path[0]
runpy.run_module({module!r}, run_name="__main__", alter_sys=True)
"""


def command(module: str) -> list[str]:
    """What runs a module of this package, as `python -m` does; arguments may follow.

    `python -m` would run the package that Python finds first: where several are, such as one that is installed and a
    checkout, that may be another, and what it makes would be taken for ours.
    """
    return [sys.executable, "-P", "-c", _RUNS.format(root=_ROOT, module=module)]
