from .spaces import as_space as as_space, gpus as gpus, host_of as host_of, space as space
