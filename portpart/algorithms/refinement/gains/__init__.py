"""The best block of each vertex, and the lists of vertices that iterations touch."""
