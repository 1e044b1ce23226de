"""Host code as data: what was asked of the GPU, in which order it may happen, and how long that takes."""
