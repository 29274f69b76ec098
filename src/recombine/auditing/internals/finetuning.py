"""The audited model compared with what it was before finetuning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from recombine.auditing.internals.model_run import ModelRun
from recombine.models import ModelError
from recombine.reuse import ReuseReport, reuse_report
from recombine.reuse.analysis import as_given
from recombine.reuse.layers import MIN_ROWS


def compare_versions(
    before: Any, run: ModelRun, after: Any, layers: Any, seed: int, progress: Callable[[str, float], None]
) -> ReuseReport | str:
    """The report on both versions, on the inputs of the audit; or, in a sentence, why there is none.

    Two models that cannot be versions of one another raise an `InputError`.
    """
    if run.model is None:
        return "The model raised an error before its layers could be read."
    if isinstance(layers, Mapping):
        return "Layers that are functions of the inputs cannot be compared; leave them out, or name layers."
    if not run.model.layers:
        return "The layers of this model cannot be read, so its versions cannot be compared."
    if run.model.rows < MIN_ROWS:
        return f"{run.model.rows} rows are too few to compare two versions; at least {MIN_ROWS} are needed."
    # the layers that are examined, and the last two, among which is the last hidden one
    chosen = {*run.layers, *run.model.layers[-2:]} if layers is None else set(run.layers)
    names = [name for name in run.model.layers if name in chosen]
    try:
        return reuse_report(
            before,
            after,
            as_given(run.model.inputs),
            layers=names,
            name=run.name,
            seed=seed,
            progress=partial(progress, "comparing with the model before finetuning"),
        )
    except ModelError as error:
        return f"One of the two versions failed {error.stage} ({error.words})."
