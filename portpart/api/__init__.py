"""The public functions and their results."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
