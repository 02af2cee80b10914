"""The graph as a value, and what makes one of arrays, rows, networks, frames and meshes."""
