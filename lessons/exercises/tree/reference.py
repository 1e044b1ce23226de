"""Each block sums 8 elements."""


def shapes(problem):
    return {"x": (8 * problem["blocks"],)}


def reference(inputs, problem):
    return {"sums": inputs["x"].reshape(-1, 8).sum(axis=1)}
