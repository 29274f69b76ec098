"""What training costs, compared with an eager PyTorch loop that does the same arithmetic: `python -m benchmarks`."""
