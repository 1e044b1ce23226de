"""Texture objects, and the CUDA arrays that they read (CUDA driver API, "Texture Object Management")."""
