"""Objectives: what partitions and mappings are to make small."""
