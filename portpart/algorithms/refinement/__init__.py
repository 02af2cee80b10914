"""Vertices move between blocks, and the objective falls."""
