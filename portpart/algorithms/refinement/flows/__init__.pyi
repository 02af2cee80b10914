from .band import (
    BAND_SHARE as BAND_SHARE,
    Band as Band,
    BandNumbers as BandNumbers,
    BandRows as BandRows,
    Layers as Layers,
    anchors_of as anchors_of,
    append_vertex as append_vertex,
    band_of as band_of,
    begun as begun,
    fits as fits,
    joins as joins,
    list_boundary as list_boundary,
    list_layer as list_layer,
    listed as listed,
    numbered as numbered,
    offset_type as offset_type,
    outside as outside,
    rows_of_band as rows_of_band,
    with_anchors as with_anchors,
)
from .flow_refiner import (
    FlowRefiner as FlowRefiner,
    flow_bytes as flow_bytes,
)
from .state import FlowSizes as FlowSizes
