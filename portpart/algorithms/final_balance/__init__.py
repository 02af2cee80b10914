"""Final balance of blocks on the host: overload, underload and packing."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
