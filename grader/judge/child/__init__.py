"""The process that only launches, and the parent's end of it. It never sees an expected result."""
