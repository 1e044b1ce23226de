"""Mock interviews: the bank of questions, coding rounds that the judge grades, and what the candidate is told."""
