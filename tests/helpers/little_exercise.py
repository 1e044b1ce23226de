"""A small exercise in a folder of its own, for tests that break it."""

from pathlib import Path

DECLARED = '''\
title = "Ten more"
order = 1
before = "copy"
signature = "more(const int* x, int* y, int N)"
sizes = [{ N = 5 }, { N = 8 }]
idea = """
A thread has a number.
"""
task = """
Add 10 to each element.
"""
hints = ["Who am I?", "I am threadIdx.x.", "`int i = threadIdx.x;`"]

[[claim]]
text = "one store"
expect = "store_requests <= 1"
'''

REFERENCE = """\
def reference(inputs, problem):
    return {"y": inputs["x"] + 10}
"""

SOLUTION = """\
// Adds 10.
//
// /// launch
// [[launch]]
// kernel = "more"
// grid = [1]
// block = ["N"]
// ///
extern "C" __global__ void more(const int* x, int* y, int N)
{
    // BEGIN SOLUTION
    int i = threadIdx.x;
    // STARTER: // TODO: which is mine?
    // STARTER: int i = 0;
    // END SOLUTION
    y[i] = x[i] + 10;
}
"""


def write(root: Path, name: str = "more") -> Path:
    """Lay the exercise out below `root`; its folder."""
    folder = root / "lessons/exercises" / name
    folder.mkdir(parents=True)
    for file, text in (("exercise.toml", DECLARED), ("reference.py", REFERENCE), ("solution.cu", SOLUTION)):
        (folder / file).write_text(text)
    return folder
