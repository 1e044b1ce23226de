"""Each of 8 threads adds every eighth element."""


def reference(inputs, problem):
    return {"sums": [inputs["x"][thread::8].sum() for thread in range(8)]}
