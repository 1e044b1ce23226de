"""What can be changed in a launch block: lines of TOML, found by their keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mutation.operators import Edit

_BLOCK = re.compile(r"^// /// launch$.*?^// ///$", re.MULTILINE | re.DOTALL)
_CHANGES = {
    "forgotten zero": ((r"// zero = .*\n", ""),),
    "forgotten constant": ((r"// constant = .*\n", ""),),
    "changed grid": (
        (r"(// grid = .*?)cdiv\(([^,()]+), ([^()]+)\)", r"\1\2 // \3"),
        (r'(// grid = \[.*?)"([^"]+)"', r'\1"max(\2 - 1, 1)"'),
        (r'(// grid = \[)("[^"]+"), ("[^"]+")', r"\1\3, \2"),
        (r"min\((SMS[^,]*), [^\n]*\)", r"\1"),
    ),
    "changed block": (
        (r'(// block = \[)("[^"]+"|\d+), ("[^"]+"|\d+)', r"\1\3, \2"),
        (r'(// block = \[)"([^"]+)"', r'\1"\2 - 1"'),
    ),
    "less memory": (
        (r'(// shared = )"([^"]+)"', r'\1"\2 - 4"'),
        (r'(// shape = \[)"([^"]+)"', r'\1"max(\2 - 1, 1)"'),
        (r'(// dtype = )"float32"', r'\1"float16"'),
    ),
    "changed arguments": (
        (r'(// args = .*?)("[A-Z]"), ("[A-Z]")', r"\1\3, \2"),
        (r'(// args = .*?"cdiv)(\(\w+, \w+\))', r"\1\2 - 1"),
    ),
    "changed condition": ((r"(// when = .*?)% (\d+)", r"\1% 2"), (r"(// when = .*?) (?:<=|<) ", r"\1 >= ")),
}


def edits(text: str) -> Iterator[tuple[str, Edit]]:
    """Each change of the launch block, with the name of its operator."""
    block = _BLOCK.search(text)
    if block is None:
        return
    for operator, changes in _CHANGES.items():
        for pattern, replacement in changes:
            for match in re.finditer(pattern, block.group()):
                offset = block.start()
                yield operator, Edit(offset + match.start(), offset + match.end(), match.expand(replacement))
