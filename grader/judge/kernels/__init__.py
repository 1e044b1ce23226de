"""A kernel file on its way through the judge: compiled, run on cases, counted, its time modelled."""
