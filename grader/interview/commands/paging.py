"""The program in which long texts are turned over."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import termios

from rich.pager import Pager

ENDS_WITHIN_S = 0.5


class Pages(Pager):
    """$MANPAGER, $PAGER, less or more, as pydoc has them. Here Ctrl-C is not the pager's own, but ends it, too."""

    def show(self, content: str) -> None:
        """Returns when the reader goes on; raises KeyboardInterrupt."""
        named = os.environ.get("MANPAGER") or os.environ.get("PAGER")
        command = named or ("less" if shutil.which("less") else "more")
        keys = f"-K {os.environ.get('LESS', '')}"  # Ctrl-C ends it
        modes = termios.tcgetattr(sys.stdin)
        try:
            pager = subprocess.Popen(
                shlex.split(command), stdin=subprocess.PIPE, text=True, errors="backslashreplace",
                env={**os.environ, "LESS": keys},
            )  # fmt: skip
        except (OSError, ValueError):  # there is none, or a command that cannot be read
            return
        try:
            pager.communicate(content)
        except KeyboardInterrupt:
            # Which it has had, unless it was another signal that ends the session.
            pager.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                pager.wait(ENDS_WITHIN_S)
            pager.kill()
            pager.wait()
            # A pager that is killed leaves its own modes; a window that was closed has none.
            with contextlib.suppress(termios.error):
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, modes)
            raise
