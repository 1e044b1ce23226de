"""The emulated GPU: memory, modules, launches, and what a launch leaves behind: counters and findings."""
