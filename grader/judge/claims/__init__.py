"""What counters prove: claims, the rung they reach, points, and hints for the next rung."""
