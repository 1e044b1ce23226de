"""What a launch notes beside its counters: accesses that may meet, what it touched, all that one block accesses."""
