"""A kernel at sizes too large to emulate whole."""
