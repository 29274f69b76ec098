"""What findings are based on: cells and scores, the rules that explain a failure, layers, weights and derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from recombine.auditing.cells import Cells
from recombine.auditing.conditions import Condition, separating_conditions
from recombine.auditing.findings.finding import title_of
from recombine.auditing.internals.layer_measures import Layers
from recombine.auditing.internals.model_run import ModelRun
from recombine.auditing.reading import AuditInputs
from recombine.auditing.refits import Refits
from recombine.auditing.rules import RULES, Failure, Rule, RuleResult
from recombine.auditing.rules.additive import predictions_are_additive
from recombine.auditing.rules.failure import apply_rules, explains, simplest
from recombine.auditing.scores import Scores
from recombine.auditing.thresholds import (
    ACCOUNTS_FOR_ALL,
    ADDITIVE_PREDICTIONS,
    EXPLAINS,
    EXPLAINS_ALL_LABELS,
    KNOWS_BETTER,
    MAX_MODULE_UNITS,
    MAX_P_VALUE,
    MIN_UNSEEN_CELLS,
    NEGLIGIBLE_SHARE,
    NOT_FULLY_LEARNED,
    UNINFORMATIVE_P_VALUE,
)
from recombine.data.arrays import as_array
from recombine.data.nets import read_net
from recombine.errors import InputError
from recombine.metrics.interaction import InteractionProfile, interaction_profile
from recombine.modularity import ModularityReport, modularity_report
from recombine.report import percent, plain_number
from recombine.reuse import ReuseReport

ABOUT_AS_MUCH = 0.05
"""Shares of the error that differ by no more than this are about the same."""
LOOKS_UP = ("nearest", "copy", "stored")
"""Rules of models that look up what they stored."""


@dataclass(frozen=True, eq=False)
class AuditEvidence:
    """Everything that was measured; what takes long is computed when a finding asks for it, and once.

    **Attributes:**

    - `scores`: `None` if there are no predictions; `has_model`: whether the user supplied a model.
    - `weights`, `slots`: as `audit` takes them.
    - `reuse`: the report on the model before and after finetuning; why there is none; or `None` without a version
        before.
    - `rules`: those that are tested as explanations; none if rows have only scores.
    """

    data: AuditInputs
    cells: Cells
    scores: Scores | None
    refits: Refits
    run: ModelRun
    has_model: bool
    layers: Layers | None
    weights: Any
    slots: Any
    reuse: ReuseReport | str | None
    seed: int
    progress: Callable[[str, float], None]
    rules: tuple[Rule, ...] = RULES

    @property
    def names(self) -> tuple[str, ...]:
        """The factors."""
        return tuple(self.data.table.space.names)

    # ---- behaviour --------------------------------------------------------------------------------------------------

    @property
    def unjudged(self) -> str:
        """Why the predictions cannot be judged, in a sentence; empty if they can."""
        if self.scores is None:
            raised = ": the model raised an error" if self.run.error else ""
            return f"There are no predictions to judge{raised}."
        return f"The predictions cannot be judged: {self.scores.unjudged}." if self.scores.unjudged else ""

    @cached_property
    def failure(self) -> Failure | None:
        """What every rule explains of the errors on unseen cells."""
        return None if self.unjudged else apply_rules(self.cells, self.rules, seed=self.seed)

    @cached_property
    def cause(self) -> RuleResult | None:
        """The rule that explains the failure, if there is one to explain and a rule that does."""
        failure, scores, cells = self.failure, self.scores, self.cells
        if failure is None or scores is None or not self.rules:
            return None
        if self.may_be_noise:
            return None
        if scores.composes is True:
            return self._confusion or self._systematic or self._ignorant
        if (scores.label_noise > 0 or cells.row_noise > 0) and not scores.excess.low > 0:
            return None  # noise alone may account for all errors
        results = failure.results
        if not scores.knows_seen:
            results = tuple(one for one in results if one.rule.name not in LOOKS_UP)
        underfits = not scores.learned and not scores.worse_on_unseen
        if underfits and cells.kind == "regression":
            results = _reproducing(cells, failure)
        knows = scores.learned and scores.knows_seen
        cause = simplest(results, learned=knows, additive=predictions_are_additive(cells))
        if cause is None or not underfits:
            return cause
        # Predictions of a model that has not learned the seen cells always look like some rule, so it must reproduce
        # them (see `_reproducing`).
        reproduced = cells.kind == "regression" and cause.rule.name != "constant"
        all_labels = cells.kind == "classification" and cause.share.low >= ACCOUNTS_FOR_ALL
        return cause if reproduced or all_labels else None

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """What separates right from wrong unseen cells."""
        if self.unjudged or self.scores is None or self.scores.learned_nothing:
            return ()
        return separating_conditions(self.data.table, self.cells, self.data.slices)

    @property
    def may_be_noise(self) -> bool:
        """Whether noise could be the reason for the errors: it does not spare the cells that a condition names."""
        possible = self.scores is not None and self.scores.may_be_noise
        return possible and not any(one.strong for one in self.conditions)

    @property
    def _confusion(self) -> RuleResult | None:
        """The confusion of labels, if it explains the errors of a model that composes."""
        assert self.failure is not None
        return next(
            (one for one in self.failure.results if one.rule.name == "confusion" and explains(one)), None
        )

    @cached_property
    def _systematic(self) -> RuleResult | None:
        """The rule behind small but systematic errors: it surely explains most of them, and seen cells lack them."""
        scores, failure = self.scores, self.failure
        assert scores is not None and failure is not None  # noqa: PT018
        if self.cells.kind == "classification" or not scores.worse_on_unseen:
            return None
        sure = tuple(one for one in failure.results if one.share.low >= EXPLAINS and one.finding)
        return simplest(sure, learned=scores.learned, additive=predictions_are_additive(self.cells))

    @cached_property
    def could_know_better(self) -> bool:
        """Whether a simple model, chosen on seen cells, surely has a smaller error than the model: it is not noise."""
        best, scores = self.refits.best, self.scores
        if best is None or scores is None:
            return False
        surely = best.held_out.high < scores.unseen.low
        return bool(surely and best.unseen.value < KNOWS_BETTER * scores.unseen.value)

    @cached_property
    def _ignorant(self) -> RuleResult | None:
        """The rule of a model that ignores what the task needs on seen cells, too, so that unseen ones are no worse."""
        scores, failure = self.scores, self.failure
        assert scores is not None and failure is not None  # noqa: PT018
        if scores.skill.value > 1 - NOT_FULLY_LEARNED or not self.could_know_better:
            return None
        simple = [one for one in failure.results if len(one.factors) == 1 or one.order == 1]
        rules = [one for one in simple if one.rule.name in {"given", "additive"} and explains(one)]
        exact = tuple(one for one in rules if _reproduces(self.cells, failure, one))
        return simplest(exact, learned=True, additive=predictions_are_additive(self.cells))

    @property
    def composes(self) -> bool | None:
        """Whether the model composes: by the size of its errors, and by a rule if it surely explains most of them."""
        if self.scores is None or self.unjudged:
            return None
        by_errors = self.scores.composes_if(noise_possible=self.may_be_noise)
        if self.cause is None:
            return by_errors
        if self.cause.rule.name == "confusion":
            # The same mistakes on seen cells say nothing against composing.
            return by_errors if self.scores.learned else None
        return False

    @property
    def in_part(self) -> bool:
        """Whether errors are small, but follow a rule that does not compose."""
        small = self.composes is False and self.scores is not None and self.scores.composes is True
        return small and self._systematic is not None

    def is_cause(self, id: str) -> bool | None:
        """Whether the rule that explains the failure supports a finding."""
        scores, failure = self.scores, self.failure
        assert scores is not None and failure is not None  # noqa: PT018
        if self.composes is True:
            return False
        if self.cause is not None:
            return self.cause.finding == id
        if scores.learned_nothing or scores.units_unseen < MIN_UNSEEN_CELLS:
            return None
        best = failure.best(id)
        if best is None:
            return False
        return False if best.share.high < EXPLAINS else None

    def why_not(self, id: str, *, no_rule: str = "It explains nothing about these predictions.") -> str:
        """Why a finding does not hold, or is unclear; `no_rule` if no rule that supports it applies."""
        scores, failure, cause = self.scores, self.failure, self.cause
        assert scores is not None and failure is not None  # noqa: PT018
        if self.composes is True:
            return "There is no failure to explain."
        if scores.learned_nothing and cause is None:
            return "The model has not learned the seen combinations, so its other errors cannot be explained."
        if scores.units_unseen < MIN_UNSEEN_CELLS:
            few = scores.unseen_units("unseen cell")
            are = "is" if scores.units_unseen == 1 else "are"
            return f"{few} {are} too few to tell (at least {MIN_UNSEEN_CELLS} are needed)."
        best = failure.best(id)
        if best is None:
            return no_rule
        # A share below one half is unclear only because its interval reaches above.
        undecided = cause is None and best.share.value < EXPLAINS and not best.share.high < EXPLAINS
        upper = f" (95% interval: up to {percent(min(1.0, best.share.high))}); more unseen cells would decide"
        above = upper if undecided and np.isfinite(best.share.high) else ""
        if best.share.value <= NEGLIGIBLE_SHARE:
            return f"It explains none of the error on unseen cells{above}."
        share = f"It would explain {percent(best.share.value)} of the error on unseen cells{above}"
        if cause is not None and cause.finding:
            title = title_of(cause.finding)
            less = best.share.value - cause.share.value
            other = f"{title} explains more" if less < 0 else f"{title} is simpler and explains about as much"
            if less > ABOUT_AS_MUCH:
                other = f"{title} is simpler and makes the same predictions likely, but explains less"
            return f"{share}; {other} ({percent(cause.share.value)})."
        if cause is not None:
            return f"{share}, but predicting nearly the same everywhere is a simpler explanation."
        if explains(best) or best.share.value < EXPLAINS:
            return f"{share}."
        if best.p_value <= MAX_P_VALUE:
            ends = " to ".join(percent(max(0.0, end)) for end in best.share.pair)
            return f"{share} (95% interval: {ends}); more unseen cells would decide."
        if best.p_value > UNINFORMATIVE_P_VALUE:
            return f"{share}, but it would do so for any order of the predictions, which hardly vary."
        luck = f"errors in random cells do as well in {percent(best.p_value)} of permutations"
        return f"{share}, but {luck}; more unseen cells would decide."

    def rule_details(self, id: str) -> dict[str, Any]:
        """The share of the failure that the rule behind a finding explains, or the best one for it, as plain values."""
        best = None if self.failure is None else self.failure.best(id)
        if self.cause is not None and self.cause.finding == id:
            best = self.cause
        if best is None:
            return {}
        return {
            "rule": best.rule.name,
            "explains": plain_number(best.share.value),
            "interval": [plain_number(end) for end in best.share.pair],
            "chance": best.p_value,
        }

    # ---- inside the model -------------------------------------------------------------------------------------------

    @property
    def no_layers(self) -> tuple[bool, str]:
        """Why there are no layers: whether the question could be asked at all, and a sentence."""
        if self.run.error:
            return True, "The model raised an error before its layers could be read."
        if self.has_model:
            how = "pass layers={'name': function of the inputs} or activations"
            return False, f"The layers of this model cannot be read; {how}."
        return False, "Needs layers: pass a model with its inputs, or activations."

    @cached_property
    def modularity(self) -> ModularityReport | str:
        """The report on the modules of the weights, or why there is none."""
        if self.weights is None:
            return "Needs the weights of dense or convolutional layers in a chain."
        net = read_net(self.weights)
        shapes = [np.shape(one) for one in net.weights if np.ndim(one) in {2, 4}]
        units = int(sum(shape[-2] for shape in shapes) + (shapes[-1][-1] if shapes else 0))
        if units > MAX_MODULE_UNITS:
            limit = f"an audit searches modules in up to {MAX_MODULE_UNITS:,}"
            return f"The net has {units:,} units, and {limit}; `recombine modularity` takes more."
        try:
            return modularity_report(
                self.weights,
                # the adapter knows the orientation of a model's matrices; for those of the user it is inferred
                orientation="inputs-first" if self.weights is self.run.weights else None,
                permutations=20,
                progress=partial(self.progress, "looking for modules"),
            )
        except InputError as error:
            return f"The weights do not form a chain of layers: {error.got}."

    @cached_property
    def interaction(self) -> InteractionProfile | None:
        """The interaction between slots of the inputs, if the model could be run and slots were named."""
        if self.run.model is None or self.slots is None or self.run.error:
            return None
        latents = as_array("inputs", self.data.inputs)
        if latents.ndim != 2:
            raise InputError(
                "slots", self.slots, f"inputs of shape (rows, latents); these are {latents.shape}"
            )
        return interaction_profile(self.run.model, np.unique(latents, axis=0), self.slots, seed=self.seed)


def _reproducing(cells: Cells, failure: Failure) -> tuple[RuleResult, ...]:
    """Rules that give nearly all of the variance of the predictions, however wrong these are, and the constant."""
    exact = [
        one
        for one in failure.results
        if one.rule.name in {"given", "nearest", "additive"} and _reproduces(cells, failure, one)
    ]
    return (*exact, *(one for one in failure.results if one.rule.name == "constant"))


def _reproduces(cells: Cells, failure: Failure, result: RuleResult) -> bool:
    """Whether a rule gives nearly all of the variance of the predictions, or nearly all of their labels."""
    predictions = cells.predictions[failure.cells].astype(np.float64)
    if cells.kind == "classification":  # the residual is twice the share of other labels
        return bool(result.residual.mean() <= 2 * (1 - EXPLAINS_ALL_LABELS))
    spread = ((predictions - predictions.mean(axis=0)) ** 2).sum()
    return bool(result.residual.sum() <= (1 - ADDITIVE_PREDICTIONS) * spread)
