"""Pictures of partitions, by Matplotlib: ``pip install portpart[plot]``.

Every function draws on the axes that it is given, or on those of a new figure, and returns them.
"""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
