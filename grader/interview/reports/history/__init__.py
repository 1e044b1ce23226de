"""A learner's history in words and pictures: the day's plan, skills, weak points."""
