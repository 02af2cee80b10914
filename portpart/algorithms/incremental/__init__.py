"""Partitions that follow the edits of a graph."""
