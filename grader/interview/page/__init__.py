"""Interviews on a page: the rounds of the terminal, served on 127.0.0.1 and kept in the same files."""
