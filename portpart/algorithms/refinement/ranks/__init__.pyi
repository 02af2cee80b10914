from .refiner import RankRefiner as RankRefiner
from .state import RankTotals as RankTotals
