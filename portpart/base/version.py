"""The version, which the package shows and kept code is known by."""

__version__ = "0.1.0"
