"""What to try: the remedies that an audit suggests, strongest evidence first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from recombine.auditing.findings import AuditEvidence, Finding
from recombine.auditing.outputs import Outputs
from recombine.auditing.remedies import architecture_remedies, data_remedies, training_remedies
from recombine.auditing.remedies.remedy import Remedy
from recombine.auditing.split_forecast import SplitForecast

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
        *_for_cause(evidence, findings, forecast, outputs),
        *_for_split(evidence, forecast),
        *_for_structure(evidence, findings),
    ):
        suggested.setdefault(one.id, one)
    return list(suggested.values())


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
        yield architecture_remedies.interactions(framework)
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
        yield data_remedies.add_wrong_cells(framework)
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
