"""Other descriptions of a graph, and the graphs that they stand for: meshes."""
