"""Exercises that are whole programs: compiled with nvcc, run on the emulator, and judged by what they print and do.

A program is run with arguments that nobody knew before, and then once more for each call that may fail, with that call
failing. It runs as `ladder run` runs it, with the rights of who runs it: a program is judged for its own author.
"""
