"""The multilevel walk: coarsen, start, refine; what its parts share."""
