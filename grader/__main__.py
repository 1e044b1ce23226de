"""`python -m grader` is the command `ladder`."""

from grader.ladder import main

main()
