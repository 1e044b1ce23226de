"""The commands of the workbook itself, and what those of its products share with them.

A module's commands are registered when it is imported: `grader.ladder` does that. Each command parses, calls and
shows; what it shows is decided in `grader.report`.
"""
