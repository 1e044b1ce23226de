"""The smaller state spaces: constant and local memory, parameters, and generic addresses."""
