from .hostfile import Host as Host, expand_nodelist as expand_nodelist, read_hosts as read_hosts
from .launchers import (
    write_rank_order as write_rank_order,
    write_slurm_hostfile as write_slurm_hostfile,
)
from .metis_pieces import MetisPiece as MetisPiece, open_metis_piece as open_metis_piece
from .nodes import Machine as Machine, read_machine as read_machine
from .partition_file import (
    read_named_partition as read_named_partition,
    read_partition as read_partition,
    write_named_partition as write_named_partition,
    write_partition as write_partition,
)
from .rankfile import write_rankfile as write_rankfile
from .readers import (
    FORMATS as FORMATS,
    NamedGraph as NamedGraph,
    Netlist as Netlist,
    NetlistEdits as NetlistEdits,
    read as read,
    read_edge_list as read_edge_list,
    read_hypergraph as read_hypergraph,
    read_mesh as read_mesh,
    read_named as read_named,
    read_netlist as read_netlist,
)
from .row_files import RowFile as RowFile, open_rows as open_rows
from .traces import read_edits as read_edits
from .writing import (
    write as write,
    write_hypergraph as write_hypergraph,
    write_mesh as write_mesh,
    write_submeshes as write_submeshes,
)
