"""What can be known of a kernel from its resources and counters: occupancy and a modelled time."""
