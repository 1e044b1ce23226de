"""A whole day of interviews: screen, sums, coding, a bug hunt or a diagnosis, design."""
