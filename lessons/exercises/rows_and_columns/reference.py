"""The number of its row is added to each element."""

import numpy as np


def reference(inputs, problem):
    return {"y": inputs["x"] + np.arange(problem["rows"])[:, None]}
