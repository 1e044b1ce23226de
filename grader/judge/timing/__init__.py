"""Times on a GPU: interleaved rounds, medians with intervals, and the bound no version can beat."""
