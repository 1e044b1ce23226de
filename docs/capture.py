"""Writes terminal captures into a Markdown file: `python docs/capture.py README.md`.

Between `<!-- capture: COMMAND -->` and `<!-- end -->` stands what COMMAND printed: 80 columns, no colour.
Numbers in the prose come from there and are never typed by hand.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"<!-- capture: (.+?) -->\n.*?<!-- end -->", re.DOTALL)


def capture(block: re.Match[str]) -> str:
    """The block with what its command prints now; a command that fails ends everything."""
    command = block[1]
    program, *arguments = shlex.split(command)
    executable = str(Path(sys.executable).with_name(program))
    with tempfile.TemporaryDirectory() as home:  # without a history
        done = subprocess.run(
            [executable, *arguments],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "WARPLADDER_HOME": home},
        )
    shown = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    return f"<!-- capture: {command} -->\n```console\n$ {command}\n{shown}\n```\n<!-- end -->"


def main() -> None:
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(BLOCK.sub(capture, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
