"""The archive that Gradescope is given: two scripts, what this course says of an assignment, and Warpladder itself.

Warpladder travels as the files that are imported here, so that marks there are made by the same code; what it needs is
installed there, in the versions that are installed here.
"""

from __future__ import annotations

import importlib.metadata
import io
import re
import stat
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import grader
from grader.course.gradescope.packed import FILE, PACKAGE, Packed
from grader.emulator.cache import write_whole
from grader.workbook.content import content_root

CONTENT = ("lessons", "kernels", "measurements")
NEEDED = ("nbformat",)
"""What reads notebooks, besides what Warpladder needs by itself."""
_NAME = re.compile(r"[\w.-]+")
_PLAIN, _PROGRAM, _SECRET = 0o644, 0o755, 0o600

SETUP = """\
#!/usr/bin/env bash
# Run once, when Gradescope builds the image: a Python like the lecturer's, and what Warpladder needs.
set -euo pipefail
cd "$(dirname "$0")"
apt-get update
apt-get install -y --no-install-recommends python3 python3-venv bubblewrap
python3 -m venv /autograder/uv
/autograder/uv/bin/pip install uv
/autograder/uv/bin/uv venv --python {python} /autograder/venv
/autograder/uv/bin/uv pip install --python /autograder/venv/bin/python -r requirements.txt
# Compiled here, so that the first submission does not have to wait for it.
export PYTHONPATH="$PWD/{package}" WARPLADDER_CACHE=/autograder/cache
/autograder/venv/bin/python -m grader.emulator.runtime.build
"""

RUN = """\
#!/usr/bin/env bash
# Run for each submission. AUTOGRADER and PYTHON say where things are when it is tried elsewhere.
set -euo pipefail
root="${{AUTOGRADER:-/autograder}}"
export PYTHONPATH="$root/source/{package}" WARPLADDER_CACHE="${{WARPLADDER_CACHE:-$root/cache}}"
exec "${{PYTHON:-$root/venv/bin/python}}" -P -m grader.course.gradescope.marking "$root"
"""


def write(path: Path, assignment: Packed) -> None:
    """Write an archive, whole or not at all, and readable by its owner alone: it holds hidden cases. Raises OSError."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in _files(assignment):
            about = zipfile.ZipInfo(name)
            about.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(about, data, zipfile.ZIP_DEFLATED)
    write_whole(path, made.getvalue())


def _files(assignment: Packed) -> Iterator[tuple[str, bytes | str, int]]:
    """Names, contents and modes."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    yield "setup.sh", SETUP.format(python=python, package=PACKAGE), _PROGRAM
    yield "run_autograder", RUN.format(package=PACKAGE), _PROGRAM
    yield "requirements.txt", "".join(f"{line}\n" for line in requirements()), _PLAIN
    yield FILE, assignment.write(), _SECRET
    package = Path(grader.__file__).parent
    folders = {package: package.parent}
    if (root := content_root()) == package.parent:
        folders |= {root / name: root for name in CONTENT}
    for folder, above in folders.items():
        for file in sorted(folder.rglob("*")):
            inside = file.relative_to(above)
            if file.is_file() and not any(part == "__pycache__" or part[0] == "." for part in inside.parts):
                yield f"{PACKAGE}/{inside.as_posix()}", file.read_bytes(), _PLAIN


def requirements() -> list[str]:
    """What Warpladder needs to mark, each in the version that is installed here: they decide on counts."""
    asked = [line for line in importlib.metadata.requires("warpladder") or [] if "extra ==" not in line]
    names = [found[0] for line in (*asked, *NEEDED) if (found := _NAME.match(line))]
    return [f"{name}=={importlib.metadata.version(name)}" for name in names]
