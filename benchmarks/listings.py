"""The listings of `ladder read`: PTX by our NVRTC, SASS by the ptxas inside it and nvdisasm, from the .cu beside each.

    python benchmarks/listings.py              write every listing anew
    python benchmarks/listings.py --check      only say which differ
    python benchmarks/listings.py NAME …       those of some drills

A drill's listing is NAME.ptx or NAME.sass, whichever is there; for a new one, `touch` it first. nvdisasm is of the
wheel nvidia-cuda-nvdisasm (extra `dev`).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from grader.emulator.nvrtc.disassembly import NvdisasmNotFound, disassembled
from grader.interview.drills import listing
from grader.interview.drills.reading import FORMAT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    files = [
        file for suffix in (listing.PTX, listing.SASS) for file in sorted(FORMAT.folder().glob(f"*{suffix}"))
    ]
    old = []
    for file in files:
        if given.names and file.stem not in given.names:
            continue
        try:
            text = made(file)
        except NvdisasmNotFound as error:
            sys.exit(f"{error}: pip install nvidia-cuda-nvdisasm")
        if given.check and file.read_text(encoding="utf-8") != text:
            old.append(file.name)
        elif not given.check:
            file.write_text(text, encoding="utf-8")
    sys.exit(f"not what the compiler gives: {', '.join(old)}" if old else 0)


def made(file: Path) -> str:
    """What a listing has to hold."""
    built = listing.compiled(file.with_suffix(".cu"))
    if file.suffix == listing.PTX:
        return listing.from_ptx(built.ptx)
    return listing.from_sass(disassembled(built.cubin), built.ptx)


if __name__ == "__main__":
    main()
