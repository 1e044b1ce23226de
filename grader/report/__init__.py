"""Views of results: the terminal's tables, and plots. They show what a result holds and judge nothing."""
