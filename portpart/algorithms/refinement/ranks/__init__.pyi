from .band import refine_band as refine_band
from .refiner import RankRefiner as RankRefiner
from .state import RankTotals as RankTotals
