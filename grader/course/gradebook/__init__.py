"""From marks to nbgrader's gradebook and on to a learning platform, so that no mark is lost on the way.

- `database` opens the gradebook, looks through it and copies it; `entries` reads what it has of a class.
- `records` keeps what was autograded, and `standing` says for each student how far a submission got.
- `autograde` and `feedback` have nbgrader do what is left to do, by `converting`, and one run at a time, by `lock`.
- `export` writes what `canvas` and `moodle` take, on the tables of `sheet`.
"""
