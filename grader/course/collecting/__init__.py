"""What a class handed in elsewhere, put where nbgrader looks for it.

nbgrader's own `zip_collect` serves for none of this: without a pattern of the instructor's it takes no file at all, it
unpacks archives as they are, knows one attempt a student, and refuses to run twice. So archives are read here, and of
nbgrader's API are used the gradebook, the course's folders, and `timestamp.txt`, by which it tells what is late.

- `archive` reads zips and folders, within limits. `platforms` tells by their content where they come from.
- `moments` says when something was handed in, as far as that is known.
- `people` tells which student somebody is. `answers` makes a notebook of what was handed in.
- `attempts` picks the one that counts. `submitted` puts it into place. `collect` does it all.
"""
