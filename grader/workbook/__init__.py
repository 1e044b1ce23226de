"""The workbook as it lies on disk: topics, rungs, schedules, and the expressions and constants in them."""
