"""A schedule on its way through the judge: recorded, checked, replayed on cases, simulated or timed."""
