"""What blocks weigh and may weigh, and vertices that are tied to theirs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
