from .compile import compile_all as compile_all
from .space import CpuSpace as CpuSpace
