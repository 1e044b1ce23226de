"""Short exercises that are checked: one package module a format, one file an exercise below lessons/drills."""
