"""Views of results: the terminal's tables, pages, and pictures. They show what a result holds and judge nothing."""
