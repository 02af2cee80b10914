from .broken_groups import BROKEN_UP_WORK as BROKEN_UP_WORK, group_by_nets as group_by_nets
from .cluster_ratings import (
    HEAVY_EDGE as HEAVY_EDGE,
    MAX_NARROW as MAX_NARROW,
    MAX_ROW as MAX_ROW,
    HashRows as HashRows,
    RowRating as RowRating,
    propose_cluster as propose_cluster,
    propose_cluster_by_row as propose_cluster_by_row,
    propose_neighbour as propose_neighbour,
)
from .cluster_rounds import (
    IS_GRANTED as IS_GRANTED,
    IS_REQUESTED as IS_REQUESTED,
    ISOLATED_KEYS as ISOLATED_KEYS,
    MAX_DEPTH as MAX_DEPTH,
    ClusterRounds as ClusterRounds,
    VertexList as VertexList,
    begin_single as begin_single,
    is_granted as is_granted,
    is_root as is_root,
    list_rest as list_rest,
    list_single as list_single,
    list_singles as list_singles,
)
from .clustering import (
    CLUSTERING_WORK as CLUSTERING_WORK,
    MAX_UNCOUNTED as MAX_UNCOUNTED,
    cluster as cluster,
    cluster_rule as cluster_rule,
    is_skewed as is_skewed,
    slots_for as slots_for,
    weight_rule as weight_rule,
)
from .clusters import Clusters as Clusters, Members as Members
from .communities import communities as communities
from .contraction import (
    CONTRACTION_WORK as CONTRACTION_WORK,
    contract as contract,
    rows_of_clusters as rows_of_clusters,
)
from .groups import LINKING_WORK as LINKING_WORK, grouping_rule as grouping_rule
from .hierarchy import (
    BY_HASHING as BY_HASHING,
    AnyGraph as AnyGraph,
    ClusterRule as ClusterRule,
    Contraction as Contraction,
    Level as Level,
    cluster_of_cluster as cluster_of_cluster,
    coarsen as coarsen,
    contraction_by as contraction_by,
    end_for as end_for,
    give_label as give_label,
    label_of_clusters as label_of_clusters,
    value_of_clusters as value_of_clusters,
)
from .matching import MATCHING_WORK as MATCHING_WORK, matching_rule as matching_rule
from .net_contraction import (
    NetTotals as NetTotals,
    contract_in_walk as contract_in_walk,
    contract_nets as contract_nets,
    merged_nets as merged_nets,
)
from .net_merging import (
    CoarseNets as CoarseNets,
    DistinctPins as DistinctPins,
    SortedPins as SortedPins,
)
from .net_proposals import NET_CLUSTERING_WORK as NET_CLUSTERING_WORK, NetProposals as NetProposals
from .options import (
    ANY_DEGREE as ANY_DEGREE,
    CONTRACTIONS as CONTRACTIONS,
    ClusteringOptions as ClusteringOptions,
    CoarseningOptions as CoarseningOptions,
    CommunityOptions as CommunityOptions,
    FineNetSizes as FineNetSizes,
    FineSizes as FineSizes,
    GroupingOptions as GroupingOptions,
    MatchingOptions as MatchingOptions,
    NetGroupingOptions as NetGroupingOptions,
    NetOptions as NetOptions,
    sizes_of as sizes_of,
)
from .remove_large_nets import reduced_nets as reduced_nets
from .row_pieces import (
    MAX_SCRATCH as MAX_SCRATCH,
    MAX_SPARE as MAX_SPARE,
    is_one_piece as is_one_piece,
)
from .two_hop_clusters import (
    TwoHopGroups as TwoHopGroups,
    group_among as group_among,
    groups_for as groups_for,
    is_granted_in_group as is_granted_in_group,
    isolated_key as isolated_key,
)
