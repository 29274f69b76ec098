"""An earlier audit as a file: reading it, with everything that can be wrong with such a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recombine.auditing.thresholds import MAX_BASELINE_BYTES
from recombine.data.argument_types import shown
from recombine.data.files import existing_file, is_path
from recombine.errors import InputError
from recombine.intervals import Estimate

AUDIT_FORMAT = "recombine-audit/1"
COMPARISON_FORMAT = "recombine-comparison/1"
"""The key `format` of JSON: what it is, and the version of its layout."""
_EXPECTED = "a file that recombine audit --json wrote, or the result of to_dict()"


@dataclass(frozen=True, eq=False)
class Baseline:
    """Earlier audits.

    **Attributes:**

    - `name`: of the file; `audits`: by model, or by `""` if there was only one.
    """

    name: str
    audits: Mapping[str, Mapping[str, Any]]

    def of(self, model: str) -> Mapping[str, Any] | None:
        """The audit that one of several models is compared with: the only one, or the one of its name."""
        return self.audits.get("", self.audits.get(model))


def read_baseline(source: Any, field: str = "baseline") -> Baseline:
    """Reads an earlier audit.

    **Arguments:**

    - `source`: a JSON file, what `to_dict()` returned, or an earlier report itself.

    **Raises:**

    [`recombine.InputError`][] for whatever is not an audit: one line that says what it is instead.
    """
    name = "the baseline"
    if isinstance(source, Baseline):
        return source
    if is_path(source):
        path = existing_file(field, source, "the path of a JSON file that exists")
        name = path.name
        plain = _read_json(field, path)
    elif isinstance(source, Mapping):
        plain = source
    elif hasattr(source, "to_dict"):
        plain = source.to_dict()
    else:
        raise InputError(field, shown(source), _EXPECTED)
    if not isinstance(plain, Mapping):
        raise InputError(field, f"{name}, which holds {type(plain).__name__}", _EXPECTED)
    if plain.get("format") == COMPARISON_FORMAT:
        models = plain.get("models")
        if not isinstance(models, Mapping) or not models:
            raise InputError(field, f"{name} without models", _EXPECTED)
        return Baseline(name, {str(model): _check(field, name, one) for model, one in models.items()})
    return Baseline(name, {"": _check(field, name, plain)})


def _read_json(field: str, path: Path) -> Any:
    size = path.stat().st_size
    if size > MAX_BASELINE_BYTES:
        raise InputError(field, f"{path.name} of {size:,} bytes", f"at most {MAX_BASELINE_BYTES:,}")
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise InputError(field, f"{path.name}, which is not JSON ({reason})", _EXPECTED) from None


def _check(field: str, name: str, plain: Any) -> Mapping[str, Any]:
    """An audit as plain values, if it is one of a format that can be read."""
    if not isinstance(plain, Mapping):
        raise InputError(field, f"{name}, which holds {type(plain).__name__}", _EXPECTED)
    written = plain.get("format")
    # Versions before the key existed wrote the same values, without the errors of cells.
    if written is not None and written != AUDIT_FORMAT:
        got = f"{name} of format {str(written)[:60]!r}"
        raise InputError(field, got, f"{AUDIT_FORMAT} or {COMPARISON_FORMAT}; audit again to write one")
    errors, factors, findings = (plain.get(key) for key in ("errors", "factors", "findings"))
    if not (isinstance(errors, Mapping) and isinstance(factors, Mapping) and isinstance(findings, list)):
        raise InputError(field, f"{name}, which is not an audit", _EXPECTED)
    if not all(isinstance(levels, list) for levels in factors.values()):
        raise InputError(field, f"{name} with factors that cannot be read", _EXPECTED)
    return plain


def read_estimate(plain: Any) -> Estimate:
    """An estimate as plain values wrote it; NaN for whatever is missing, infinite where one end has no bound."""
    if not isinstance(plain, Mapping):
        return Estimate(np.nan, np.nan, np.nan)
    value, ends = read_number(plain.get("estimate")), plain.get("interval")
    if not isinstance(ends, list | tuple) or len(ends) != 2 or list(ends) == [None, None]:
        return Estimate(value, np.nan, np.nan)
    low, high = ends
    return Estimate(
        value, -np.inf if low is None else read_number(low), np.inf if high is None else read_number(high)
    )


def read_number(value: Any) -> float:
    """A finite number, NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return float("nan")
    try:
        return float(value) if np.isfinite(value) else float("nan")
    except (TypeError, OverflowError):  # a whole number beyond every float
        return float("nan")
