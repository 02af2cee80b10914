"""Vertices leave blocks that are too heavy."""
