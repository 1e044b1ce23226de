"""What may be known of the values in registers before a kernel runs."""
