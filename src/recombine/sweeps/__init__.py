"""Sweeps: trials over a grid of settings, run here or on a cluster, and their results as one frame."""

from recombine.sweeps.dry_run import DryRun
from recombine.sweeps.running import sweep
from recombine.sweeps.summary import Best
from recombine.sweeps.sweep_plan import SweepPlan, plan
from recombine.sweeps.sweep_result import Sweep

__all__ = ["Best", "DryRun", "Sweep", "SweepPlan", "plan", "sweep"]
