"""The version, which the package shows and which identifies cached code."""

__version__ = "0.1.0"
