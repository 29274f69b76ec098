"""What to try: the remedies that an audit suggests, strongest evidence first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from recombine.auditing.findings import AuditEvidence, Finding
from recombine.auditing.outputs import Outputs
from recombine.auditing.remedies import (
    architecture_remedies,
    data_remedies,
    simple_model_remedies,
    training_remedies,
)
from recombine.auditing.remedies.measurement import (
    cell_numbers,
    gain_of_cells,
    gain_of_refit,
    informative_cells,
)
from recombine.auditing.remedies.remedy import Remedy, on_log_scale
from recombine.auditing.remedies.track_record import OutputKind, track_record
from recombine.auditing.split_forecast import SplitForecast
from recombine.auditing.thresholds import NOTHING_KNOWN

__all__ = ["Remedy", "suggest"]


def suggest(
    evidence: AuditEvidence,
    findings: Mapping[str, Finding],
    forecast: SplitForecast | str,
    outputs: Outputs | None,
) -> list[Remedy]:
    """What to try first, second, and so on; nothing for a model that composes."""
    scores, cause = evidence.scores, evidence.cause
    if evidence.composes is True or scores is None or (cause is not None and cause.rule.name == "confusion"):
        return []
    if scores.unjudged:
        return list(_for_split(evidence, forecast))
    if not scores.learned and (cause is None or cause.rule.name == "constant"):
        return [training_remedies.train_longer()]
    suggested: dict[str, Remedy] = {}
    for one in (
        *_for_ceiling(evidence),
        *_for_cause(evidence, findings, forecast, outputs),
        *_for_split(evidence, forecast),
        *_for_structure(evidence, findings),
    ):
        suggested.setdefault(one.id, one)
    kind = _output_kind(outputs)
    measured = [
        _measured(evidence, replace(one, record=track_record(one.id, kind))) for one in suggested.values()
    ]
    if evidence.cells.measured.outputs.measure.name == "log":
        measured = [on_log_scale(one, evidence.run.framework) for one in measured]
    # What was measured and does not help is not offered. What helps for sure comes first, then what helped elsewhere.
    sure = [one for one in measured if one.surely_helps]
    sure.sort(key=lambda one: -one.gain.value if one.gain is not None else 0.0)
    rest = [one.unsure() for one in measured if not one.surely_helps and not one.does_not_help]
    return [*sure, *_by_record(rest), *([] if sure else _for_nothing_known(evidence))]


def _by_record(remedies: list[Remedy]) -> list[Remedy]:
    """Those that the study `remedies` tried in the order of their gain there, in the places that they had together."""
    tried = [(one.record.median_gain, one) for one in remedies if one.record is not None]
    ordered = iter(sorted(tried, key=lambda pair: -pair[0]))
    return [one if one.record is None else next(ordered)[1] for one in remedies]


def _output_kind(outputs: Outputs | None) -> OutputKind:
    if outputs is None:
        return "quantities"
    if outputs.kind == "classification":
        return "labels"
    return "images" if len(outputs.shape) >= 2 else "quantities"


def _measured(evidence: AuditEvidence, remedy: Remedy) -> Remedy:
    """The remedy with what it is worth, where that can be measured."""
    cells, refits = evidence.cells, evidence.refits
    if remedy.refit:
        refit = refits.named(remedy.refit)
        return remedy if refit is None else remedy.with_gain(gain_of_refit(refit, cells, refits))
    if not remedy.cells:
        return remedy
    table = evidence.data.table
    levels = [
        [table.level_index("cells", name, level) for name, level in one.items()] for one in remedy.cells
    ]
    added = cell_numbers(cells, levels)
    if len(added) < len(remedy.cells):  # some have no target
        return remedy
    return remedy.with_gain(gain_of_cells(added, cells, refits, seed=evidence.seed))


def _for_ceiling(evidence: AuditEvidence) -> Iterator[Remedy]:
    """What simple models know: the best of them instead of the model, and cells from which most can be learned."""
    best, scores, refits = evidence.refits.best, evidence.scores, evidence.refits
    if best is None or scores is None or evidence.composes is None:
        return
    better_there = best.unseen.value < scores.unseen.value
    if best.name != "constant" and better_there:
        yield simple_model_remedies.simple_model(
            evidence.run.framework, evidence.cells.kind, best, scores.unseen.value
        )
    index = informative_cells(evidence.cells, refits, data_remedies.added_cells(scores.cells_unseen))
    described = [evidence.data.table.describe(cell) for cell in evidence.cells.cells[index]]
    if described:
        yield data_remedies.add_informative_cells(evidence.run.framework, described)


def _for_nothing_known(evidence: AuditEvidence) -> list[Remedy]:
    """What would be needed if seen cells say nothing about others."""
    best, constant = evidence.refits.best, evidence.refits.named("constant")
    if best is None or constant is None or evidence.composes is not False:
        return []
    if best.held_out.value < NOTHING_KNOWN * constant.held_out.value:
        return []
    return [training_remedies.nothing_known(best, constant.held_out.value)]


def _for_cause(
    evidence: AuditEvidence,
    findings: Mapping[str, Finding],
    forecast: SplitForecast | str,
    outputs: Outputs | None,
) -> Iterator[Remedy]:
    """What the cause of the failure calls for."""
    cause, framework = evidence.cause, evidence.run.framework
    finding = "" if cause is None else cause.finding
    if finding == "shortcut" and cause is not None and isinstance(forecast, SplitForecast):
        names = [evidence.names[axis] for axis in cause.factors]
        explained = findings["shortcut"].details["explained_in_training"] or 0.0
        cells = data_remedies.counterexamples(forecast, cause.factors)
        if cells:
            yield data_remedies.break_shortcut(framework, names, explained, cells)
        if outputs is not None and data_remedies.can_balance(forecast, outputs, cause.factors):
            yield data_remedies.balance(framework, names)
    images = outputs is not None and len(outputs.shape) >= 2
    if finding == "superposition" or (findings["re_entanglement"].holds is True and images):
        yield data_remedies.single_factors(framework)
        yield architecture_remedies.forced_rendering(framework)
    if finding == "additive_only":
        interactions = architecture_remedies.interactions(framework)
        measurable = evidence.refits.named("product") is not None
        yield replace(interactions, refit="product") if measurable else interactions
    if finding == "memorisation_leak" and isinstance(forecast, SplitForecast) and forecast.advice.leak:
        yield data_remedies.partners(framework, forecast.advice.leak)


def _for_split(evidence: AuditEvidence, forecast: SplitForecast | str) -> Iterator[Remedy]:
    """What the split calls for."""
    framework = evidence.run.framework
    if not isinstance(forecast, SplitForecast):
        return
    if evidence.cause is None and forecast.misled.any():
        yield data_remedies.break_forecast_shortcut(framework, forecast)
    if forecast.additions() and forecast.order is not None and not forecast.supposed:
        yield data_remedies.add_cells(framework, forecast)
    elif forecast.order is None and forecast.wrong.any():
        yield data_remedies.add_wrong_cells(framework, forecast)
    if forecast.advice.corrective_cells is not None and len(forecast.advice.corrective_cells.cells):
        yield data_remedies.flip_cells(framework, forecast.advice)
    if forecast.advice.losses is not None and forecast.advice.losses.squared_helps:
        yield training_remedies.squared_loss(framework)


def _for_structure(evidence: AuditEvidence, findings: Mapping[str, Finding]) -> Iterator[Remedy]:
    """What the inside of the model calls for."""
    framework = evidence.run.framework
    if findings["lazy_finetuning"].holds is True and framework in {"torch", "jax"}:
        yield training_remedies.rescale_weights(framework)
    if findings["mixed_connectivity"].holds is True and evidence.cause is None:
        yield training_remedies.weighted_activity(framework)
    interaction = findings["cross_interaction"]
    if interaction.holds is True and interaction.details.get("method") == "differences":
        yield training_remedies.compositional_contrast(framework)
    elif interaction.holds is True:
        yield training_remedies.cross_hessian(framework)
