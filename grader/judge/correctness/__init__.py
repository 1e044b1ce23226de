"""Right or wrong: cases, comparison with the reference, guard zones, and the verdict with its reason."""
