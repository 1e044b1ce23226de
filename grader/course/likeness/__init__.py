"""Sources compared whatever their names, comments and white space are: the same one again, and those that resemble."""
