from .finish import enforce_limits as enforce_limits
from .overload import (
    block_weights_on_host as block_weights_on_host,
    filled_by as filled_by,
    host_vertex_weights as host_vertex_weights,
    max_filled as max_filled,
    nonempty_weight as nonempty_weight,
    repaired as repaired,
    with_heavy_apart as with_heavy_apart,
)
