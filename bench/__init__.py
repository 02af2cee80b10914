"""Benchmarks of portpart: pieces, whole algorithms, and comparisons with other partitioners.

Run from the root of the repository: ``python -m bench.compare --help``.
"""
