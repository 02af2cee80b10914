"""The partition, the moves of an iteration, and sums of weights and cost."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
