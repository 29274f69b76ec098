"""What `predict_transfer` says about the published diagonal networks, one draw of teachers and rows per seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recombine.tasks import diagonal_teachers
from recombine.theory import predict_transfer
from recombine.theory.transfer import finetuned

Values = dict[str, Any]


def forecast_errors(
    seed: int,
    *,
    features: int,
    known: int,
    sparse: int,
    few: Sequence[int],
    many: int,
    scales: Sequence[float],
) -> Values:
    """Errors of finetuning as shares of predicting zero, by task: `(scales, n)` each.

    Main tasks on all or `sparse` known features, with `few` rows, and rescaled by all `scales`; tasks that share all,
    three quarters or half of their features, with `many` rows; and tasks on new features.
    """
    cases: dict[str, tuple[dict[str, Any], Sequence[int], Sequence[float]]] = {
        f"subset of {k}": ({"active": k, "overlap": k, "amplitude": "1/k"}, few, scales)
        for k in (known, sparse)
    }
    for name, overlap in (
        ("all shared", known),
        ("three quarters shared", 3 * known // 4),
        ("half shared", known // 2),
    ):
        cases[name] = ({"active": known, "overlap": overlap}, (many,), scales[:1])
    cases[f"{sparse} new"] = ({"active": sparse, "overlap": 0, "amplitude": "1/k"}, (many,), scales[:2])
    cases[f"{known} new"] = ({"active": known, "overlap": 0}, few[:1], scales[:1])
    values: Values = {}
    for name, (task, rows, factors) in cases.items():
        pair = diagonal_teachers(inputs=features, known=known, seed=seed, **task)
        aux, main = (teacher.coefficients for teacher in pair)
        errors = predict_transfer(aux, main, list(rows), list(factors), draws=1, seed=seed).errors
        values[name] = np.stack([errors[finetuned(factor)][:, 0] for factor in factors])
    return values
