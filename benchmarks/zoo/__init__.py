"""A zoo of real models, trained as a user would train them, whose truth is worked out without the audit.

`python -m benchmarks zoo` draws every kind from seeds, trains it, works out whether it composes and why not (`truth`),
audits its predictions, and prints what the audit says next to the truth.
"""
