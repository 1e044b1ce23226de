"""Confinement by the operating system: what a process that meets a stranger's file may read, write, take and call.

`start` runs a function in a process of its own, inside a `Box`. Two layers stand around it, and each is left out where
the machine does not have it: bubblewrap's namespaces, which the parent puts around the process, and Landlock, a filter
of system calls and limits, which the process puts on itself before anything else. `means` says which there are.
"""
