"""Trials on a Ray cluster: the driver, the workers, and what they agree on. Ray is imported on first use."""

from recombine.runs.on_ray.driver import run_on_ray

__all__ = ["run_on_ray"]
