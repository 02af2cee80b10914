"""Limits of blocks, and the last word on them: overload, underload, packing on the host."""
