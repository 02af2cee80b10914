"""Initial partitions of the coarsest graph."""
