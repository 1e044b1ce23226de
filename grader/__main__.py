"""`python -m grader` is the command `ladder`."""

from grader.cli import main

main()
