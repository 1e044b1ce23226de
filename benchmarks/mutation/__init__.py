"""Small wrong changes of kernels and schedules, each the work of one operator in one place."""
