"""Processes as a terminal starts them."""

from __future__ import annotations

import signal


def may_be_interrupted() -> None:
    """For `preexec_fn`: a shell has its background jobs ignore SIGINT, and what they start does so, too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
