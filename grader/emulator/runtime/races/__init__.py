"""Which accesses to memory race: what orders them, and what is kept of them."""
