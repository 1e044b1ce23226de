"""An assignment as an autograder of Gradescope's, which marks as this course does.

Gradescope unpacks the archive to /autograder/source, runs setup.sh once, and run_autograder for each submission, which
finds it in /autograder/submission and leaves /autograder/results/results.json. The form is documented at
https://gradescope-autograders.readthedocs.io/en/latest/specs/.

`packed` is what travels in the archive of a course, `packing` takes it from there, `archive` writes it, and `marking`
marks one submission where it has arrived.
"""
