"""Imported by every process of a marking that is attacked, before anything else: it has this much protection alone.

PROTECTION names what is left of what this machine has, see `class_attacks`; MEMORY is how many bytes it has.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from grader.sandbox import means

LEFT: dict[str, dict[str, Any]] = {
    "bubblewrap": {},
    "landlock": {"bubblewrap": ""},
    "limits": {"bubblewrap": "", "landlock": 0, "other_user": False},
}

_sysconf = os.sysconf


def sysconf(name: str) -> int:
    """As the system says, but for how much memory there is."""
    if name == "SC_PHYS_PAGES":
        return int(os.environ["MEMORY"]) // _sysconf("SC_PAGE_SIZE")
    return _sysconf(name)


_here = means.means()
means.means = lambda: replace(_here, **LEFT[os.environ["PROTECTION"]])
os.sysconf = sysconf  # type: ignore[assignment]
