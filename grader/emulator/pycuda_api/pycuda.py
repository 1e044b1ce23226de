"""The package `pycuda` itself, on the emulator."""

from __future__ import annotations

VERSION = (2026, 1)
VERSION_STATUS = ""
VERSION_TEXT = "2026.1"
