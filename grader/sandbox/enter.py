"""The first code of a confined process: `python -I -S enter.py ORDER`. It confines itself and then runs a function.

ORDER is marshalled, in hexadecimal: what starts in a few milliseconds has no JSON. Nothing of the environment or of
the working directory decides what is imported: the order has the whole search path.
"""

import importlib
import marshal
import sys


def main() -> None:
    """Confine this process, then call what the order names."""
    order = marshal.loads(bytes.fromhex(sys.argv[1]))
    sys.path[:0] = order["path"]
    confine = importlib.import_module("grader.sandbox.confine")
    confine.confine(order["box"], order["lifeline"])
    importlib.import_module(order["module"]).main(order["arguments"])


if __name__ == "__main__":
    main()
