"""Studies: the trials, claims and figures of one paper, and the way to run them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from recombine._version import __version__
from recombine.errors import InputError
from recombine.runs import Store, Trial, execute
from recombine.studies.claims import SCALES, Arm, Claim, Evidence, Outcome, Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recombine.report import Table

Arms = Mapping[str, tuple[Trial, ...]]
"""For every arm its trials, which differ only in their seeds."""


@dataclass(frozen=True)
class Drawing:
    """One figure of a study: a file name, a sentence that says what to see, a caption, and how to draw it."""

    name: str
    title: str
    caption: str
    needs: tuple[str, ...]
    draw: Callable[[Evidence], Figure]
    form: Literal["vector", "image"] = "vector"


@dataclass(frozen=True)
class Tabulation:
    """One table of a study: a heading, the arms it takes, and how to fill it."""

    title: str
    needs: tuple[str, ...]
    fill: Callable[[Evidence], Table]


@dataclass(frozen=True)
class Study:
    """One paper as experiments, claims and figures.

    - `arms(scale)`: all experimental arms at a scale, by name, for seed offset 0.
    - `sources`: what the words in the claims' sources mean, in a sentence.
    - `cost(trial)`: a rough number of seconds, for scheduling.
    """

    name: str
    title: str
    reference: str
    arms: Callable[[Scale], Arms]
    claims: tuple[Claim, ...]
    drawings: tuple[Drawing, ...]
    cost: Callable[[Trial], float]
    sources: str = ""
    tabulations: tuple[Tabulation, ...] = ()

    def claim(self, id: str) -> Claim:
        """The claim with that id."""
        for claim in self.claims:
            if claim.id == id:
                return claim
        raise InputError("claim", id, f"one of {', '.join(claim.id for claim in self.claims)}")


@dataclass(frozen=True)
class Reproduction:
    """A study that has been run: the evidence and what it says of every claim."""

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
        """How many claims have this verdict."""
        return sum(outcome.word == word for outcome in self.outcomes)

    def listing(self) -> dict[str, Any]:
        """The JSON form of the claims with their verdicts alone, for a listing."""
        claims = [outcome.claim.to_dict() | {"verdict": outcome.word} for outcome in self.outcomes]
        return {"study": self.study.name, "scale": self.scale, "claims": claims}

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "study": self.study.name,
            "scale": self.scale,
            "version": __version__,
            "seed_offset": self.seed_offset,
            "seconds": round(self.seconds, 1),
            "claims": [outcome.to_dict() for outcome in self.outcomes],
        }


def in_pieces(trial: Trial, size: int = 1) -> tuple[Trial, ...]:
    """A trial cut into trials of `size` seeds each, so that they can run in different processes."""
    starts = range(0, len(trial.seeds), size)
    return tuple(replace(trial, seeds=trial.seeds[start : start + size]) for start in starts)


def arms_to_run(study: Study, scale: Scale, claims: Sequence[Claim], *, asked: bool) -> Arms:
    """The arms that the claims need.

    **Arguments:**

    - `asked`: the claims were named by the user. Otherwise scale quick leaves out what runs only on request and
        what only scale paper decides. At scale paper nothing is left out.
    """
    arms = study.arms(scale)
    wanted = {
        name
        for claim in claims
        if asked or scale != "quick" or not (claim.on_request or claim.decided_at == "paper")
        for name in (*claim.needs, *claim.also)
        if name in arms
    }
    return {name: trials for name, trials in arms.items() if name in wanted}


def check_scale(scale: str) -> Scale:
    """The scale, or an error that names the three."""
    for known in SCALES:
        if scale == known:
            return known
    raise InputError("scale", scale, f"one of {', '.join(SCALES)}")


def reproduce(
    study: Study,
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
    """Runs a study's trials, or takes them from the store, and judges its claims.

    **Arguments:**

    - `scale`: `"smoke"`, `"quick"` or `"paper"`.
    - `seed_offset`: added to every seed.
    - `claims`: ids; by default all claims, and all arms but those that run on request only.
    - `store`, `jobs`, `fresh`, `on_event`: see `recombine.runs.execute`.
    - `on_plan`: told all trials before the first is run.
    """
    checked = check_scale(scale)
    chosen = [study.claim(id) for id in claims] or list(study.claims)
    arms = shifted(arms_to_run(study, checked, chosen, asked=bool(claims)), seed_offset)
    started = time.perf_counter()
    if on_plan is not None:
        on_plan([trial for group in arms.values() for trial in group])
    evidence = gather(arms, checked, store=store, jobs=jobs, cost=study.cost, fresh=fresh, on_event=on_event)
    outcomes = tuple(claim.judge(evidence) for claim in chosen)
    return Reproduction(study, checked, seed_offset, evidence, outcomes, time.perf_counter() - started, jobs)


def gather(arms: Arms, scale: Scale, *, store: Store | None = None, **how: Any) -> Evidence:
    """Runs the trials of all arms, or takes them from the store; `how` is passed on to `execute`."""
    trials = [trial for group in arms.values() for trial in group]
    results = execute(trials, store or Store(), **how)
    return _evidence(arms, dict(zip(trials, results, strict=True)), scale)


def recall(
    study: Study, *, scale: str = "quick", seed_offset: int = 0, store: Store | None = None
) -> Reproduction:
    """Judges a study's claims on what the store holds, without running anything."""
    checked, store = check_scale(scale), store or Store()
    started = time.perf_counter()
    arms = shifted(study.arms(checked), seed_offset)
    found = {trial: store.get(trial) for group in arms.values() for trial in group}
    complete = {name: group for name, group in arms.items() if all(found[trial] for trial in group)}
    evidence = _evidence(complete, found, checked)
    outcomes = tuple(claim.judge(evidence) for claim in study.claims)
    return Reproduction(study, checked, seed_offset, evidence, outcomes, time.perf_counter() - started, 0)


def shifted(arms: Arms, offset: int) -> Arms:
    """The same arms with every seed moved by `offset`."""
    return {
        name: tuple(replace(t, seeds=tuple(seed + offset for seed in t.seeds)) for t in trials)
        for name, trials in arms.items()
    }


def _evidence(arms: Arms, results: Mapping[Trial, Any], scale: Scale) -> Evidence:
    joined = {name: Arm.of([results[trial] for trial in trials]) for name, trials in arms.items()}
    return Evidence(joined, scale)
