"""Thread-block clusters: shared memory of other blocks, and the barrier of a cluster (PTX ISA 5.1.6, 9.7.13.4)."""
