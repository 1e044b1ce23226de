"""CUDA arrays and texture objects, as the runtime has them."""
