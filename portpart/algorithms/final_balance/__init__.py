"""The last step on the balance of blocks: overload, underload and packing, on the host."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
