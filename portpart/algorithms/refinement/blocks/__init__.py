"""What blocks weigh and may weigh, and vertices that are tied to theirs."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
