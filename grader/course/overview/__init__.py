"""A class seen as a whole, from the marks that `ladder course mark` has made; nothing is marked here."""
