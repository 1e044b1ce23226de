"""Ten-second questions that confirm a point: declared, drawn and computed, and what candidates type."""
