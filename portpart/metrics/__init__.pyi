from .balance import (
    block_weight_limit as block_weight_limit,
    block_weight_limits as block_weight_limits,
    block_weights as block_weights,
    imbalance as imbalance,
    is_balanced as is_balanced,
    max_block_weight as max_block_weight,
    target_weights as target_weights,
)
from .edges import (
    EdgeEvaluation as EdgeEvaluation,
    evaluate_edges as evaluate_edges,
    replication_factor as replication_factor,
    vertex_copies as vertex_copies,
)
from .evaluation import (
    Evaluation as Evaluation,
    HypergraphEvaluation as HypergraphEvaluation,
    evaluate as evaluate,
)
from .nets import (
    absorption as absorption,
    connectivity_histogram as connectivity_histogram,
    km1 as km1,
    soed as soed,
)
from .quality import (
    boundary_vertices as boundary_vertices,
    communication_volume as communication_volume,
    components_per_block as components_per_block,
    cut as cut,
    level_costs as level_costs,
    mapping_cost as mapping_cost,
    quotient_graph as quotient_graph,
    traffic_matrix as traffic_matrix,
)
