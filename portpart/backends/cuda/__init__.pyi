from .dry_run import CudaDryRuns as CudaDryRuns
from .modules import Modules as Modules
from .nccl_calls import calls_between_gpus as calls_between_gpus
from .nvrtc import target_for as target_for
from .space import (
    CudaSpace as CudaSpace,
    import_cupy as import_cupy,
    num_devices as num_devices,
    usable_device as usable_device,
)
from .translate import source as source
