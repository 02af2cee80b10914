"""The partition, the moves of an iteration, and sums of weights and cost."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
