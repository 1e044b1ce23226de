"""The sum of each run of 4 elements."""


def shapes(problem):
    return {"x": (16 * problem["blocks"],)}


def reference(inputs, problem):
    return {"y": inputs["x"].reshape(-1, 4).sum(1)}
