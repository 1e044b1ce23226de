"""The elements in the opposite order."""


def reference(inputs, problem):
    return {"y": inputs["x"][::-1]}
