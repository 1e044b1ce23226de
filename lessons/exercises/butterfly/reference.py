"""The maximum of each run of 32 elements, taken off each."""


def shapes(problem):
    return {"x": (32 * problem["blocks"],)}


def reference(inputs, problem):
    rows = inputs["x"].reshape(-1, 32)
    return {"y": (rows - rows.max(1, keepdims=True)).reshape(-1)}
