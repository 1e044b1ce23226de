"""A grade told otherwise than as a table: step by step, or as a line for each problem."""
