"""What a study is: the trials, claims and figures of one paper, and the list of all studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from recombine.errors import InputError
from recombine.runs import Trial
from recombine.studies.claims import SCALES, Claim, Evidence, Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recombine.report import Table

STUDIES = {
    "forced-rendering": "recombine.studies.forced_rendering",
    "kernel-theory": "recombine.studies.kernel_theory",
    "poisson-modularity": "recombine.studies.poisson_modularity",
    "interaction-asymmetry": "recombine.studies.interaction_asymmetry",
}
"""The studies by name, with the module that defines each. A module is imported when its study is loaded."""

Arms = Mapping[str, tuple[Trial, ...]]
"""The trials of each arm by the arm's name. The trials of one arm differ only in their seeds."""


@dataclass(frozen=True)
class Drawing:
    """One figure of a study.

    **Arguments:**

    - `name`: the file name, without a suffix.
    - `title`: a sentence that says what to look for.
    - `caption`: what is shown, for a reader who is new to the subject.
    - `needs`: the arms that the figure shows.
    - `draw`: makes the figure from the evidence.
    - `form`: `"image"` for figures that are mostly pixels.
    """

    name: str
    title: str
    caption: str
    needs: tuple[str, ...]
    draw: Callable[[Evidence], Figure]
    form: Literal["vector", "image"] = "vector"


@dataclass(frozen=True)
class Tabulation:
    """One table of a study: its heading, the arms it needs, and the function that makes it from the evidence."""

    title: str
    needs: tuple[str, ...]
    fill: Callable[[Evidence], Table]


@dataclass(frozen=True)
class Study:
    """One paper as experiments, claims and figures.

    **Arguments:**

    - `arms`: from a scale to all experimental arms by name, for seed offset 0.
    - `cost`: a rough number of seconds for a trial, used for scheduling and for the progress bar.
    - `sources`: one sentence that explains the words used in the claims' sources.
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

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {len(self.claims)} claims)"


def load(study: str | Study) -> Study:
    """The study with that name; a `Study` is returned as it is.

    **Raises:** [`recombine.InputError`][] if there is no such study.

    ```python
    >>> from recombine.studies import load
    >>> load("forced-rendering").claim("4").published
    '53'

    ```
    """
    if isinstance(study, Study):
        return study
    names = ", ".join(STUDIES)
    if not isinstance(study, str):
        raise InputError("study", study, f"a Study or one of the names {names}")
    if study not in STUDIES:
        close = get_close_matches(study.lower().replace("_", "-"), STUDIES, n=1, cutoff=0.5)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InputError("study", study, f"one of {names}{hint}")
    loaded: Study = import_module(STUDIES[study]).STUDY
    return loaded


def check_scale(scale: str) -> Scale:
    """The scale, if it is one of the three; otherwise an error that names them."""
    for known in SCALES:
        if isinstance(scale, str) and scale == known:
            return known
    raise InputError("scale", scale, f"one of {', '.join(SCALES)}")


def split_seeds(trial: Trial, size: int = 1) -> tuple[Trial, ...]:
    """The trial as several trials with `size` seeds each, which can run in different processes."""
    starts = range(0, len(trial.seeds), size)
    return tuple(replace(trial, seeds=trial.seeds[start : start + size]) for start in starts)


def shift_seeds(arms: Arms, offset: int) -> Arms:
    """The same arms with `offset` added to every seed."""
    return {
        name: tuple(replace(t, seeds=tuple(seed + offset for seed in t.seeds)) for t in trials)
        for name, trials in arms.items()
    }
