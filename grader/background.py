"""`ladder` in a process that ends with the one that started it: `python -m grader.background PARENT ARGUMENTS…`."""

from __future__ import annotations

import sys

from grader.sandbox.confine import end_with_parent

if __name__ == "__main__":
    end_with_parent(int(sys.argv.pop(1)))
    from grader.ladder import main

    main()
