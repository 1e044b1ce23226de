"""Python's search for cycles of unused objects, put off while there are none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def put_off() -> Iterator[None]:
    """For what makes a great many objects that all stay: to look through them again and again takes a third of the time
    in which a large kernel's text is read, and its code generated."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
