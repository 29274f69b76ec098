"""What training costs, beside an eager PyTorch loop that does the same arithmetic: `python -m benchmarks`."""
