"""The pictures of the chapters: a module a chapter, a function a picture, drawn anew whenever the book is built.

Each function takes nothing and returns a picture as `grader.report.pictures` does: complete in itself, with a title and
a description, light or dark. Their numbers come from devices.toml, from the rules by which the emulator counts, from
kernels that it runs while the book is built (`experiments`), or from records.
"""
