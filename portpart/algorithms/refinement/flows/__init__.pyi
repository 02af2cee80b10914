from .band import Band as Band, band_of as band_of
from .flow_refiner import (
    FlowRefiner as FlowRefiner,
    flow_bytes as flow_bytes,
)
from .state import FlowSizes as FlowSizes

