"""Pictures of partitions, by Matplotlib: ``pip install portpart[plot]``.

Every function draws on the axes that it is given, or on those of a new figure, and returns them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
