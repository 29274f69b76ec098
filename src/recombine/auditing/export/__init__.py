"""Metrics of audits for experiment trackers: MLflow, Weights & Biases, JSON and CSV. No package is needed."""

from recombine.auditing.export.destinations import Destination, parse_destination
from recombine.auditing.export.metrics import metric_name, report_metrics, unique_names

__all__ = ["Destination", "metric_name", "parse_destination", "report_metrics", "unique_names"]
