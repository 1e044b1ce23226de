"""Imported by arguments.py."""

greeting = "hello from beside"
