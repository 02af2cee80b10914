"""Smaller and smaller graphs, by clusters, matchings or groups."""
