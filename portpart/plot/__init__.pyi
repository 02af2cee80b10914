from .bars import block_weights as block_weights, session as session
from .blocks import partition as partition
from .colors import block_colors as block_colors
from .layouts import layout as layout
from .machines import traffic as traffic
from .networks import graph as graph, quotient as quotient
from .reports import report as report
