"""A made-up class: what it hands in, the mark that each of it deserves, and the proof that it gets it.

- `rewriting` gives a source other names. `sources` makes right, wrong and harmful ones, and knows what they are worth.
- `notebooks` does to a notebook what learners do. `handing_in` has the kinds of what is handed in, and draws a class.
- `downloads` writes the class as Moodle and Canvas send it. `courses` makes the course that it is handed in to.
- `proof` takes it from the downloads to the platform's table, and compares. `kills` does so and kills.
"""
