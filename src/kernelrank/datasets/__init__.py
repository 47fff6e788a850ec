"""Data that the package ships, readers of public sets in their published layouts, and simulated data."""

from kernelrank.datasets._apartments import Apartments, apartments_path, load_apartments
from kernelrank.datasets._clicks import Clicks, simulate_clicks
from kernelrank.datasets._jester import load_jester
from kernelrank.datasets._judged import JudgedDocuments, load_istella, load_letor, load_mslr, load_yahoo
from kernelrank.datasets._movielens import load_movielens
from kernelrank.datasets._ratings import Ratings

__all__ = [
    "Apartments",
    "Clicks",
    "JudgedDocuments",
    "Ratings",
    "apartments_path",
    "load_apartments",
    "load_istella",
    "load_jester",
    "load_letor",
    "load_movielens",
    "load_mslr",
    "load_yahoo",
    "simulate_clicks",
]
