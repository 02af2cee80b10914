from .integrated_mapping import STRONG as STRONG, IntegratedConfig as IntegratedConfig
from .mappers import (
    Mapper as Mapper,
    PartitionedConfig as PartitionedConfig,
    mapper_of as mapper_of,
    with_starts as with_starts,
)
from .multisection import MultisectionConfig as MultisectionConfig
from .sections import (
    MIN_OF_SECTION as MIN_OF_SECTION,
    coarsest_of_sections as coarsest_of_sections,
)
