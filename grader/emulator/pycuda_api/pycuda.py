"""The twin of the package `pycuda` itself."""

from __future__ import annotations

VERSION = (2026, 1)
VERSION_STATUS = ""
VERSION_TEXT = "2026.1"
