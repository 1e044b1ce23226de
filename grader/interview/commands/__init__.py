"""The commands of interviews and drills, and of what is due and known; a module registers its own when imported."""
