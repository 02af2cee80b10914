"""Scan, sort, select, reduce, histogram."""
