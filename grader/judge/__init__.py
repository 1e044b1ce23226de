"""The judge: what is right, what it costs, and what a learner's kernel is worth.

`grader.judge.climb`, `grader.judge.grade` and `grader.judge.profile` are its three entries. The parent
process makes inputs, compares outputs and decides; `grader.judge.child` is the process that launches kernels
and knows no answers. This package imports nothing by itself, so that the child starts fast.
"""
