from .flow_refiner import (
    FlowRefiner as FlowRefiner,
    flow_bytes as flow_bytes,
)
from .state import FlowSizes as FlowSizes

