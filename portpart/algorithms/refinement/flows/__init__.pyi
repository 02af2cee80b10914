from .flow_refiner import (
    MAX_VERTICES as MAX_VERTICES,
    FlowRefiner as FlowRefiner,
    flow_bytes as flow_bytes,
)
from .state import FlowSizes as FlowSizes

