"""Running a study, or reading it from the store, and the result: what the evidence says about every claim."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.errors import InputError
from recombine.report import Document, Report
from recombine.runs import Store, Trial, execute
from recombine.runs.trial_progress import plural
from recombine.studies.claim import Claim, Outcome
from recombine.studies.evidence import Arm, ArmPlans, Evidence, Scale
from recombine.studies.study import Study, check_scale, load
from recombine.studies.verdict import LOOK_LEVEL, LOOKS, VERDICTS, Verdict, VerdictName

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

MAX_SEEDS_PER_ARM = 1000


@dataclass(frozen=True, repr=False)
class Reproduction(Report):
    """A study that has been run: the evidence, and the verdict on every claim that was asked for.

    `str` gives the claims as a table for the terminal, `page()` the whole results page with its figures.
    """

    study: Study
    scale: Scale
    seed_offset: int
    evidence: Evidence
    outcomes: tuple[Outcome, ...]
    seconds: float
    jobs: int
    on: str = "local"

    @property
    def seeds(self) -> list[int]:
        """All seeds of the evidence, and of numbers that were recorded earlier, in order."""
        recorded = (o.recorded.seeds for o in self.outcomes if o.recorded is not None)
        own = (arm.seeds for arm in self.evidence.values())
        return sorted({seed for seeds in (*own, *recorded) for seed in seeds})

    @property
    def measured(self) -> bool:
        """Whether any claim has been measured."""
        return any(outcome.measurement is not None for outcome in self.outcomes)

    def count(self, verdict: VerdictName) -> int:
        """The number of claims with this verdict."""
        return sum(outcome.verdict.name == verdict for outcome in self.outcomes)

    def outcome(self, id: str) -> Outcome | None:
        """The outcome of one claim; `None` if it was not asked for."""
        return next((outcome for outcome in self.outcomes if outcome.claim.id == id), None)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form that `recombine reproduce --json` prints."""
        return {
            "study": self.study.name,
            "scale": self.scale,
            "version": __version__,
            "seed_offset": self.seed_offset,
            "seconds": round(self.seconds, 1),
            "claims": [outcome.to_dict() for outcome in self.outcomes],
        }

    def table(self) -> pl.DataFrame:
        """One row per claim: statement, quantity, published value, estimate with interval, seeds and verdict."""
        import polars as pl

        schema = {
            "id": pl.String,
            "statement": pl.String,
            "source": pl.String,
            "kind": pl.String,
            "headline": pl.Boolean,
            "quantity": pl.String,
            "no_effect": pl.Float64,
            "magnitude": pl.Float64,
            "published": pl.Float64,
            "estimate": pl.Float64,
            "low": pl.Float64,
            "high": pl.Float64,
            "level": pl.Float64,
            "n_seeds": pl.Int64,
            "n_excluded": pl.Int64,
            "favourable": pl.Int64,
            "verdict": pl.String,
            "note": pl.String,
        }
        rows = []
        for outcome in self.outcomes:
            row = outcome.to_dict()
            low, high = row["interval"] or (None, None)
            rows.append({name: (row | {"low": low, "high": high})[name] for name in schema})
        return pl.DataFrame(rows, schema=schema)

    def per_seed(self) -> pl.DataFrame:
        """Every number behind the verdicts: claim, quantity, sample, seed, value, and whether the seed counted."""
        from recombine.studies.per_seed import per_seed_table

        return per_seed_table([self])

    def document(self) -> Document:
        """The results page; all figures that the evidence allows are drawn."""
        from recombine.studies.results_page import results_document

        return results_document(self)

    def figure(self) -> Figure:
        """The figure of the paper's message, or else the first one that the evidence allows."""
        drawings = sorted(self.study.drawings, key=lambda d: d.name != self.study.main_figure)
        for drawing in drawings:
            if all(name in self.evidence for name in drawing.needs):
                return drawing.draw(self.evidence)
        raise InputError(
            "figure", self.study.name, "results of the arms that a figure shows; none of them has been run"
        )

    def __str__(self) -> str:
        from recombine.studies.results_page import terminal_document

        return terminal_document(self).text()

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.count(name)} {name}" for name in VERDICTS if self.count(name))
        return f"Reproduction({self.study.name}, scale {self.scale}, {plural(len(self.seeds), 'seed')}: {counts})"


def reproduce(
    study: str | Study,
    *,
    scale: str = "quick",
    seed_offset: int = 0,
    claims: Sequence[str] = (),
    everything: bool = False,
    seeds: int | None = None,
    until_decided: bool = False,
    store: Store | None = None,
    jobs: int = 0,
    on: str = "local",
    shared_store: bool = False,
    fresh: bool = False,
    on_event: Callable[[Any], None] | None = None,
    on_plan: Callable[[Sequence[Trial]], None] | None = None,
) -> Reproduction:
    """Runs a study's headline claims, or reads their trials from the store, and decides them.

    **Arguments:**

    - `study`: a study's name, such as `"forced-rendering"`, or a `Study`.
    - `scale`: `"smoke"`, `"quick"` or `"paper"`.
    - `seed_offset`: added to every seed; another offset is an independent replication.
    - `claims`: ids of claims to run instead of the headlines.
    - `everything`: all claims that the scale can decide, except those that run only on request.
    - `seeds`: how many seeds per arm, instead of the number that the study sets.
    - `until_decided`: judge at 7, 12 and 20 seeds; only claims that are still open get more.
    - `store`, `jobs`, `on`, `shared_store`, `fresh`, `on_event`: see `recombine.runs.execute`.
    - `on_plan`: called with all trials before they run; once per look with `until_decided`.

    ```python
    >>> from recombine import reproduce
    >>> from recombine.runs import Store
    >>> result = reproduce("forced-rendering", claims=["3"], store=Store(getfixture("tmp_path")))
    >>> result
    Reproduction(forced-rendering, scale quick, 1 seed: 1 verified)
    >>> result.table()["verdict"].to_list()
    ['verified']

    ```
    """
    study, known_scale, seeds = _checked(study, scale, seed_offset, seeds)
    if isinstance(claims, str) or not isinstance(claims, Sequence):
        raise InputError("claims", claims, 'a list of claim ids, such as ["4", "13"]')
    if until_decided and seeds is not None:
        raise InputError("seeds", seeds, f"no number with until_decided, which looks at {LOOKS} seeds")
    asked, to_run = chosen_claims(study, known_scale, claims, everything=everything)
    store = store or Store()
    started = time.perf_counter()

    def run(claims: Sequence[Claim], seeds: int | None) -> Evidence:
        plans = needed_arms(study, known_scale, claims)
        arms = {name: plan.trials(seeds=seeds, offset=seed_offset) for name, plan in plans.items()}
        if on_plan is not None:
            on_plan([trial for group in arms.values() for trial in group])
        options: dict[str, Any] = {"jobs": jobs, "on": on, "shared_store": shared_store}
        options |= {"cost": study.cost, "fresh": fresh, "on_event": on_event}
        return gather(arms, known_scale, store=store, **options)

    if until_decided:
        evidence, outcomes = _look_until_decided(asked, to_run, run)
    else:
        evidence = run(to_run, seeds)
        outcomes = [claim.decide(evidence) for claim in asked]
    seconds = time.perf_counter() - started
    return Reproduction(study, known_scale, seed_offset, evidence, tuple(outcomes), seconds, jobs, on)


def _look_until_decided(
    asked: Sequence[Claim], to_run: Sequence[Claim], run: Callable[[Sequence[Claim], int | None], Evidence]
) -> tuple[Evidence, list[Outcome]]:
    """Judges at the fixed numbers of seeds only, at the level that keeps 95% over all looks."""
    outcomes: dict[str, Outcome] = {}
    arms: dict[str, Arm] = {}
    still_open = list(to_run)
    for look in LOOKS:
        evidence = run(still_open, look)
        arms |= evidence
        for claim in still_open:
            outcomes[claim.id] = claim.decide(evidence, level=LOOK_LEVEL)
        still_open = [claim for claim in still_open if outcomes[claim.id].verdict.name == "open"]
        if not still_open:
            break
    everything = Evidence(arms, evidence.scale)
    not_run = {claim.id: Outcome(claim, Verdict("not run"), None, evidence.scale) for claim in asked}
    return everything, [outcomes.get(claim.id, not_run[claim.id]) for claim in asked]


def recall(
    study: str | Study,
    *,
    scale: str = "quick",
    seed_offset: int = 0,
    seeds: int | None = None,
    until_decided: bool = False,
    store: Store | None = None,
) -> Reproduction:
    """Decides a study's claims from the stored results, without running anything.

    With `until_decided`, claims that are open are judged at 7, 12 and 20 seeds, as far as these have been run.
    """
    study, known_scale, seeds = _checked(study, scale, seed_offset, seeds)
    store = store or Store()
    started = time.perf_counter()
    plans = study.arms(known_scale)

    def stored(names: Collection[str], seeds: int | None) -> Evidence:
        arms = {name: plans[name].trials(seeds=seeds, offset=seed_offset) for name in names if name in plans}
        results = {trial: store.get(trial) for trials in arms.values() for trial in trials}
        complete = {name: trials for name, trials in arms.items() if all(results[trial] for trial in trials)}
        return joined_evidence(complete, results, known_scale)

    def looked_up(outcome: Outcome) -> Outcome:
        claim = outcome.claim
        for look in LOOKS:
            found = claim.decide(stored((*claim.needs, *claim.also), look), level=LOOK_LEVEL)
            if found.verdict.name == "not run":
                break
            if found.verdict.n_seeds <= outcome.verdict.n_seeds:
                continue  # a look at fewer seeds than are known says less
            outcome = found
            if outcome.verdict.name != "open":
                break
        return outcome

    evidence = stored(plans, seeds)
    outcomes = [claim.decide(evidence) for claim in study.claims]
    if until_decided:
        outcomes = [looked_up(o) if o.verdict.name == "open" else o for o in outcomes]
    outcomes = [_with_forecast(study, plans, outcome) for outcome in outcomes]
    seconds = time.perf_counter() - started
    return Reproduction(study, known_scale, seed_offset, evidence, tuple(outcomes), seconds, 0)


def _with_forecast(study: Study, plans: ArmPlans, outcome: Outcome) -> Outcome:
    """A claim that has not been run says how long it would take on two cores."""
    arms = {*outcome.claim.needs, *outcome.claim.also} & plans.keys()
    if outcome.verdict.name != "not run" or not arms:
        return outcome
    seconds = sum(study.cost(trial) for name in arms for trial in plans[name].trials())
    return replace(outcome, minutes=seconds / 2 / 60)


def _checked(
    study: str | Study, scale: str, seed_offset: int, seeds: int | None
) -> tuple[Study, Scale, int | None]:
    if isinstance(seed_offset, bool) or not isinstance(seed_offset, int) or seed_offset < 0:
        raise InputError("seed_offset", seed_offset, "a whole number from 0 on")
    if seeds is not None and (
        isinstance(seeds, bool) or not isinstance(seeds, int) or not 1 <= seeds <= MAX_SEEDS_PER_ARM
    ):
        raise InputError("seeds", seeds, f"a whole number from 1 to {MAX_SEEDS_PER_ARM}")
    return load(study), check_scale(scale), seeds


def chosen_claims(
    study: Study, scale: Scale, ids: Sequence[str] = (), *, everything: bool = False
) -> tuple[list[Claim], list[Claim]]:
    """The claims that are shown, and those among them that are run."""
    if ids:
        asked = [study.claim(id) for id in ids]
        return asked, asked
    asked = list(study.claims if everything else study.headlines)
    return asked, [claim for claim in asked if claim.runs_by_default(scale)]


def needed_arms(study: Study, scale: Scale, claims: Sequence[Claim]) -> ArmPlans:
    """The arms that the claims need and that the scale has."""
    needed = {name for claim in claims for name in (*claim.needs, *claim.also)}
    return {name: plan for name, plan in study.arms(scale).items() if name in needed}


def gather(
    arms: Mapping[str, Sequence[Trial]], scale: Scale, *, store: Store | None = None, **options: Any
) -> Evidence:
    """Runs the trials of all arms, or reads them from the store; `options` go to `recombine.runs.execute`."""
    trials = [trial for group in arms.values() for trial in group]
    results = execute(trials, store or Store(), **options)
    return joined_evidence(arms, dict(zip(trials, results, strict=True)), scale)


def joined_evidence(
    arms: Mapping[str, Sequence[Trial]], results: Mapping[Trial, Any], scale: Scale
) -> Evidence:
    """The results of all trials, joined by arm."""
    joined = {name: Arm.of([results[trial] for trial in trials]) for name, trials in arms.items()}
    return Evidence(joined, scale)
