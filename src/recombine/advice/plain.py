"""Advice as plain values, the object that `--json` prints."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from recombine._version import __version__
from recombine.advice.result import Advice


def as_dict(advice: Advice) -> dict[str, Any]:
    """Plain values for JSON."""
    leak = advice.leak
    return {
        "table": advice.table.name,
        "version": __version__,
        "rows": len(advice.table.cells),
        "factors": {f.name: [_plain(level) for level in f.levels] for f in advice.table.space.factors},
        "bins": {name: list(ranges) for name, ranges in advice.table.bins.items()},
        "cells": {
            "all": advice.table.space.n_cells,
            "seen": len(advice.train),
            "interest": len(advice.targets),
            "excluded": advice.excluded,
        },
        "coverage": {
            str(order): {
                "unseen_conjunctions": found.unseen,
                "unseen_of_seen_levels": found.of_seen,
                "conjunctions": found.all,
                "examples": [{name: _plain(level) for name, level in one.items()} for one in found.examples],
            }
            for order, found in advice.coverage.items()
        },
        "orders": {
            str(order): {
                "determined": int(found.determined.sum()),
                "norm_completed": int(found.norm_completed.sum()),
                "undetermined": int(found.undetermined.sum()),
                "minimal_additions": [_levels(advice, cell) for cell in found.additions.cells],
                "least_additions": found.additions.least,
                "optimal": found.additions.optimal,
                "complete": found.additions.complete,
                "certain": found.certain,
            }
            for order, found in advice.orders.items()
        },
        "salience": _salience(advice),
        "leak": None
        if leak is None
        else {
            "profile": leak.profile,
            "retention": {"median": leak.median, "low": leak.low, "high": leak.high},
            "order": leak.order,
            "band": None if leak.band is None else list(leak.band),
            "partners": {
                name: {str(level): number for level, number in levels}
                for name, levels in leak.partners.items()
            },
        },
        "shortcuts": [
            {
                "factors": [advice.table.space.names[axis] for axis in rule.factors],
                "train": _finite(rule.train),
                "target": _finite(rule.target),
                "base": _finite(rule.base),
                "chance": rule.chance,
                "misleads": rule.misleads,
            }
            for rule in advice.shortcuts
        ],
        "slope": _slope(advice),
        "losses": _losses(advice),
        "flip": _flip(advice),
        "out_of_reach": None
        if advice.contradiction is None
        else [_levels(advice, cell) for cell in advice.contradiction],
        "additivity": {
            str(order): {
                "additive": fit.additive,
                "explained": _finite(fit.explained),
                "worst": [_levels(advice, cell) for cell in fit.worst],
            }
            for order, fit in advice.additivity.items()
        },
        "warnings": [
            {
                "code": finding.code,
                "severity": finding.severity,
                "message": finding.message,
                "action": finding.action,
                "rows": list(finding.rows),
                "count": finding.count,
            }
            for finding in advice.warnings
        ],
    }


def _salience(advice: Advice) -> dict[str, Any]:
    profile, estimate = advice.profile, advice.profile.estimate
    plain: dict[str, Any] = {
        "profile": profile.name,
        "by_order": [_finite(share) for share in profile.kernel.order_shares.tolist()],
        "estimate": None,
    }
    if estimate is not None:
        found, names = estimate.found, advice.table.space.names
        plain["by_order"] = found.order_shares.tolist()
        plain["estimate"] = {
            "interval": [[_finite(end) for end in ends] for ends in found.interval.tolist()],
            "unevenness": {
                " ".join(name for name, shared in zip(names, place, strict=True) if shared)
                or "nothing": _finite(float(value))
                for place, value in np.ndenumerate(found.unevenness)
            },
            "self_pairs": found.self_pairs,
            "rows": estimate.rows,
            "of_rows": estimate.of,
        }
    return plain


def _slope(advice: Advice) -> dict[str, Any] | None:
    found = advice.slope
    if found is None:
        return None
    plain = {"slope": found.slope, "explained": _finite(found.explained), "cells": found.cells}
    return plain | {"depths": list(found.depths), "slopes": list(found.slopes), "band": list(found.band)}


def _losses(advice: Advice) -> dict[str, Any] | None:
    found = advice.losses
    if found is None:
        return None
    margin, squared = found.passing
    return {
        "chosen": {"margin": _finite(found.chosen_margin), "squared": _finite(found.chosen_squared)},
        "depths": list(found.depths),
        "margin": [_finite(share) for share in found.margin],
        "squared": list(found.squared),
        "passing": {"margin": margin, "squared": squared},
        "squared_loss_fixes_it": found.squared_helps,
        "salience_ratio": _finite(found.ratio),
        "critical_salience_ratio": _finite(found.critical),
    }


def _flip(advice: Advice) -> dict[str, Any] | None:
    found = advice.flip
    if found is None:
        return None
    return {
        "before": found.before,
        "cells": [_levels(advice, cell) for cell in found.cells],
        "after": found.after,
        "least": found.least,
        "smallest": found.smallest,
    }


def _levels(advice: Advice, cell: np.ndarray) -> dict[str, Any]:
    return {name: _plain(level) for name, level in advice.table.describe(cell).items()}


def _plain(level: Any) -> Any:
    return level if isinstance(level, str | int | float | bool) else str(level)


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
