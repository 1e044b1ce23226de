"""10 is added to each element, of which each block has four."""


def shapes(problem):
    return {"x": (4 * problem["blocks"],)}


def reference(inputs, problem):
    return {"y": inputs["x"] + 10}
