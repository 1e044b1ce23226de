"""The smaller state spaces: constant memory, and what is known of local memory."""
