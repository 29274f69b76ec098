"""Values from the authors' code: parameter counts, and learning rates and penalty weights at some steps."""

from __future__ import annotations

PARAMETERS: dict[tuple[str, str, str, bool], tuple[int, int]] = {
    ("sprites", "slot attention", "broadcast", False): (95712, 129476),
    ("sprites", "slot attention", "attention", False): (95712, 2980359),
    ("sprites", "transformer", "attention", False): (146304, 2980359),
    ("sprites", "transformer", "attention", True): (365888, 2980359),
    ("clevr6", "slot attention", "broadcast", False): (367616, 155236),
    ("clevr6", "slot attention", "attention", False): (367616, 3046407),
    ("clevr6", "transformer", "attention", False): (573312, 3046407),
    ("clevr6", "transformer", "attention", True): (1444736, 3046407),
    ("clevrtex", "slot attention", "attention", False): (999360, 8091540),
    ("clevrtex", "transformer", "attention", False): (1205056, 8091540),
    ("clevrtex", "transformer", "attention", True): (2101248, 8091540),
}
"""Parameters of encoder and decoder, by data set, encoder, decoder and whether there is a posterior."""

STEPS: tuple[int, ...] = (0, 1, 1000, 2500, 5000, 10000, 10001, 20000, 25000, 29999, 30000, 30001)
STEPS += (50000, 100000, 200000, 300000, 400000, 500000)

_LATE = (9.12011e-05, 7.24436e-05, 4.57088e-05, 2.88403e-05, 1.8197e-05, 1.14815e-05)
_EARLY = (0.000415882, 0.000330347, 0.000208435, 0.000131513, 8.29793e-05, 5.23564e-05)
_LONG: tuple[float, ...] = (0, 5e-08, 5e-05, 0.000125, 0.00025, 0.0005, 0.000499998, 0.000477496, 0.000466627)
_LONG += (0.000456008, 0.000456005, 0.000456003, *_EARLY)

RATES: dict[tuple[str, bool], tuple[float, ...]] = {
    ("sprites", True): (
        *(0, 5e-08, 5e-05, 0.000125, 0.00025, 0.0005, 0.0005, 0.0005, 0.0005, 0.0005),
        *(0.000456005, 9.99995e-05, *_LATE),
    ),
    ("clevr6", True): (
        *(0, 2e-07, 0.0002, 0.0005, 0.0005, 0.0005, 0.0005, 0.0005, 0.0005, 0.0005),
        *(0.000440524, 9.99995e-05, *_LATE),
    ),
    ("clevrtex", True): _LONG,
    ("sprites", False): _LONG,
}
"""The learning rate after each of `STEPS`, by data set and whether there is a penalty."""

_RAMP = (0, 2e-06, 0.002, 0.005, 0.01, 0.02, 0.020002, 0.04)
ALPHAS = {
    "sprites": (*_RAMP, *[0.05] * 10),
    "clevrtex": (*(2 * alpha for alpha in _RAMP), *[0.1] * 10),
}
"""The penalty's coefficient at each of `STEPS`, in the authors' units (sum over heads)."""
