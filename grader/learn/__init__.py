"""The page to learn on: the way, lessons, small exercises and ladders, an editor, and verdicts beside it."""
