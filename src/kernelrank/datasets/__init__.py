"""Simulated data."""

from kernelrank.datasets._clicks import Clicks, simulate_clicks

__all__ = ["Clicks", "simulate_clicks"]
