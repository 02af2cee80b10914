"""Fuzzing: mutated files and odd objects go in, and a right answer or a typed error comes out.

``python -m tests.fuzz --cases 100000`` runs everything; a case is told by target, seed and number.
"""
