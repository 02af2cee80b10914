from .integrated_mapping import STRONG as STRONG, IntegratedConfig as IntegratedConfig
from .mappers import (
    DEFAULTS as DEFAULTS,
    Mapper as Mapper,
    PartitionedConfig as PartitionedConfig,
    list_algorithms as list_algorithms,
    mapper_of as mapper_of,
    with_starts as with_starts,
)
from .multisection import MultisectionConfig as MultisectionConfig
from .sections import (
    MIN_OF_SECTION as MIN_OF_SECTION,
    coarsest_of_sections as coarsest_of_sections,
)
