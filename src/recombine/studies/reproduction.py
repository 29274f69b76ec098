"""Running a study, or reading it from the store, and the result: what the evidence says about every claim."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.errors import InputError
from recombine.report import Document, Report
from recombine.runs import Store, Trial, execute
from recombine.studies.claims import Arm, Claim, Evidence, Outcome, Scale
from recombine.studies.study import Arms, Study, check_scale, load, shift_seeds
from recombine.studies.trial_progress import plural

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Reproduction(Report):
    """A study that has been run: the evidence, and the verdict on every claim.

    `str` gives the claims as a table for the terminal, `page()` the whole results page with its figures.
    """

    study: Study
    scale: Scale
    seed_offset: int
    evidence: Evidence
    outcomes: tuple[Outcome, ...]
    seconds: float
    jobs: int

    @property
    def seeds(self) -> list[int]:
        """All seeds of the evidence, in order."""
        return sorted({seed for arm in self.evidence.values() for seed in arm.seeds})

    def count(self, word: str) -> int:
        """The number of claims with this verdict."""
        return sum(outcome.word == word for outcome in self.outcomes)

    def listing(self) -> dict[str, Any]:
        """The claims with their verdicts alone, as `recombine claims --json` prints them."""
        claims = [outcome.claim.to_dict() | {"verdict": outcome.word} for outcome in self.outcomes]
        return {"study": self.study.name, "scale": self.scale, "claims": claims}

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
        """One row per claim: statement, source, published and measured value, range over seeds, and verdict."""
        import polars as pl

        schema = {
            "id": pl.String,
            "statement": pl.String,
            "source": pl.String,
            "published": pl.String,
            "measured": pl.Float64,
            "low": pl.Float64,
            "high": pl.Float64,
            "n_seeds": pl.Int64,
            "verdict": pl.String,
            "exploratory": pl.Boolean,
            "detail": pl.String,
        }
        rows = []
        for outcome in self.outcomes:
            row = outcome.to_dict()
            low, high = row.pop("spread") or (None, None)
            rows.append(row | {"low": low, "high": high})
        return pl.DataFrame(rows, schema=schema)

    def document(self) -> Document:
        """The results page; all figures that the evidence allows are drawn."""
        from recombine.studies.results_page import results_document

        return results_document(self)

    def figure(self) -> Figure:
        """The study's first figure that the evidence allows."""
        for drawing in self.study.drawings:
            if all(name in self.evidence for name in drawing.needs):
                return drawing.draw(self.evidence)
        raise InputError(
            "figure", self.study.name, "results of the arms that a figure shows; none of them has been run"
        )

    def __str__(self) -> str:
        from recombine.studies.results_page import results_document

        return results_document(self, figures=False).text()

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.count(word)} {word}" for word in ("holds", "fails", "undecided"))
        return f"Reproduction({self.study.name}, scale {self.scale}, {plural(len(self.seeds), 'seed')}: {counts})"


def reproduce(
    study: str | Study,
    *,
    scale: str = "quick",
    seed_offset: int = 0,
    claims: Sequence[str] = (),
    store: Store | None = None,
    jobs: int = 0,
    fresh: bool = False,
    on_event: Callable[[Any], None] | None = None,
    on_plan: Callable[[Sequence[Trial]], None] | None = None,
) -> Reproduction:
    """Runs a study's trials, or reads them from the store, and decides its claims.

    **Arguments:**

    - `study`: a study's name, such as `"forced-rendering"`, or a `Study`.
    - `scale`: `"smoke"`, `"quick"` or `"paper"`.
    - `seed_offset`: added to every seed; another offset is an independent replication.
    - `claims`: ids of claims; by default all claims, except that scale quick leaves out the arms that run only on
        request.
    - `store`, `jobs`, `fresh`, `on_event`: see `recombine.runs.execute`.
    - `on_plan`: called with all trials before the first one runs.

    ```python
    >>> from recombine import reproduce
    >>> from recombine.runs import Store
    >>> result = reproduce("forced-rendering", claims=["3"], store=Store(getfixture("tmp_path")))
    >>> result
    Reproduction(forced-rendering, scale quick, 1 seed: 1 holds, 0 fails, 0 undecided)
    >>> result.table()["verdict"].to_list()
    ['holds']

    ```
    """
    study = load(study)
    known_scale = check_scale(scale)
    if isinstance(seed_offset, bool) or not isinstance(seed_offset, int):
        raise InputError("seed_offset", seed_offset, "a whole number")
    if isinstance(claims, str) or not isinstance(claims, Sequence):
        raise InputError("claims", claims, 'a list of claim ids, such as ["4", "13"]')
    chosen = [study.claim(id) for id in claims] or list(study.claims)
    arms = shift_seeds(arms_to_run(study, known_scale, chosen, on_request=bool(claims)), seed_offset)
    started = time.perf_counter()
    if on_plan is not None:
        on_plan([trial for trials in arms.values() for trial in trials])
    evidence = gather(
        arms, known_scale, store=store, jobs=jobs, cost=study.cost, fresh=fresh, on_event=on_event
    )
    outcomes = tuple(claim.judge(evidence) for claim in chosen)
    return Reproduction(
        study, known_scale, seed_offset, evidence, outcomes, time.perf_counter() - started, jobs
    )


def recall(
    study: str | Study, *, scale: str = "quick", seed_offset: int = 0, store: Store | None = None
) -> Reproduction:
    """Decides a study's claims from the stored results, without running anything."""
    study, known_scale, store = load(study), check_scale(scale), store or Store()
    started = time.perf_counter()
    arms = shift_seeds(study.arms(known_scale), seed_offset)
    results = {trial: store.get(trial) for trials in arms.values() for trial in trials}
    complete = {name: trials for name, trials in arms.items() if all(results[trial] for trial in trials)}
    evidence = _evidence(complete, results, known_scale)
    outcomes = tuple(claim.judge(evidence) for claim in study.claims)
    return Reproduction(study, known_scale, seed_offset, evidence, outcomes, time.perf_counter() - started, 0)


def arms_to_run(study: Study, scale: Scale, claims: Sequence[Claim], *, on_request: bool) -> Arms:
    """The arms that the claims need.

    **Arguments:**

    - `on_request`: the user asked for these claims by name. Otherwise scale quick leaves out what runs only on
        request and what only scale paper can decide. Scale paper leaves out nothing.
    """
    arms = study.arms(scale)
    needed = {
        name
        for claim in claims
        if on_request or scale != "quick" or not (claim.on_request or claim.decided_at == "paper")
        for name in (*claim.needs, *claim.also)
        if name in arms
    }
    return {name: trials for name, trials in arms.items() if name in needed}


def gather(arms: Arms, scale: Scale, *, store: Store | None = None, **options: Any) -> Evidence:
    """Runs the trials of all arms, or reads them from the store; `options` go to `recombine.runs.execute`."""
    trials = [trial for group in arms.values() for trial in group]
    results = execute(trials, store or Store(), **options)
    return _evidence(arms, dict(zip(trials, results, strict=True)), scale)


def _evidence(arms: Arms, results: Mapping[Trial, Any], scale: Scale) -> Evidence:
    joined = {name: Arm.of([results[trial] for trial in trials]) for name, trials in arms.items()}
    return Evidence(joined, scale)
