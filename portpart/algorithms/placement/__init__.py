"""Places of blocks on a machine: traffic, swaps, sections of a hierarchy."""
