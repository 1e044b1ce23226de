"""What is shown of interviews and of a learner's history: in a terminal, and as pages."""
