"""The TOML block of a kernel file: what it says, and the launches that follow from it for one problem."""
