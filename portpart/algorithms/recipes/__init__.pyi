from .catalogue import (
    Entry as Entry,
    Parameter as Parameter,
    by_name as by_name,
    chosen as chosen,
    written as written,
    written_difference as written_difference,
)
from .gkway import GkwayConfig as GkwayConfig, IgkwayConfig as IgkwayConfig
from .gpmetis import GpmetisConfig as GpmetisConfig
from .hyperg import HypergConfig as HypergConfig, IhypergConfig as IhypergConfig
from .jet import JetConfig as JetConfig
from .partitioners import (
    ALGORITHMS as ALGORITHMS,
    DEFAULT as DEFAULT,
    OF_EDGES as OF_EDGES,
    OF_NETS as OF_NETS,
    Algorithm as Algorithm,
    entry_of as entry_of,
    find as find,
    lookup as lookup,
)
from .portpart import STRONG as STRONG, PortpartConfig as PortpartConfig
from .portpart_nets import HypergraphConfig as HypergraphConfig, for_nets as for_nets
from .portpart_ranks import (
    block_weights as block_weights,
    partition_ranks as partition_ranks,
    require_possible as require_possible,
)
