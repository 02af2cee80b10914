from .deeper_start import start_on_nets as start_on_nets
from .greedy_start import (
    grown_from as grown_from,
    grown_on as grown_on,
    grown_parts as grown_parts,
    levels_below as levels_below,
)
from .inherited import inherited as inherited, renumbered as renumbered
from .over_ranks import OverRanks as OverRanks, own_values as own_values
from .population import Partition as Partition
from .problem import (
    FREE as FREE,
    UNCONSTRAINED as UNCONSTRAINED,
    Constraints as Constraints,
    MappingProblem as MappingProblem,
    Prepared as Prepared,
    Problem as Problem,
    deadline_check as deadline_check,
    with_own_blocks as with_own_blocks,
)
from .refiners import (
    LastPass as LastPass,
    ScheduleOptions as ScheduleOptions,
    jet_refiner as jet_refiner,
)
from .search import SearchOptions as SearchOptions, overlay as overlay, search as search
from .starting import (
    metis_parts as metis_parts,
    start_from_best as start_from_best,
    start_from_pool as start_from_pool,
)
from .trace import Progress as Progress, Trace as Trace
from .walk import (
    Passes as Passes,
    Recipe as Recipe,
    StartRule as StartRule,
    levels_of as levels_of,
    partition_multilevel as partition_multilevel,
    search_multilevel as search_multilevel,
    walk_of as walk_of,
)
