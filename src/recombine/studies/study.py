"""What a study is: the sections of one paper, each with its arms, claims and figures, and the list of all studies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from recombine.errors import InputError
from recombine.report.document import slug
from recombine.runs import Trial
from recombine.studies.claim import Claim
from recombine.studies.evidence import SCALES, ArmPlan, ArmPlans, Evidence, Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recombine.report import Table

STUDIES = {
    "forced-rendering": "recombine.studies.forced_rendering",
    "kernel-theory": "recombine.studies.kernel_theory",
    "poisson-modularity": "recombine.studies.poisson_modularity",
    "interaction-asymmetry": "recombine.studies.interaction_asymmetry",
    "feature-reuse": "recombine.studies.feature_reuse",
    "gated-linear": "recombine.studies.gated_linear",
    "remedies": "recombine.studies.remedies",
}
"""The studies by name, with the module that defines each. A module is imported when its study is loaded."""


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
class StudySection:
    """One section or figure of a paper.

    **Arguments:**

    - `title`: what the section is about, with the paper's figure or section number.
    - `arms`: from a scale to the arms that this section adds. Its claims may use the arms of other sections, too.
    """

    title: str
    _: KW_ONLY
    arms: Callable[[Scale], ArmPlans]
    claims: tuple[Claim, ...]
    drawings: tuple[Drawing, ...] = ()
    tabulations: tuple[Tabulation, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """Something that the reproduction shows and the paper does not say.

    - `claims`: the ids of the claims that show it; a page leaves it out unless all of them have been measured.
    """

    text: str
    claims: tuple[str, ...]


@dataclass(frozen=True)
class Study:
    """One paper: its sections in the paper's order.

    **Arguments:**

    - `main_figure`: the name of the figure that shows the paper's message.
    - `learned`: what the reproduction shows that the paper does not say, negative and surprising results first.
    - `cost`: a rough number of seconds for a trial, used for scheduling and for the progress bar.
    - `sources`: one sentence that explains the words used in the claims' sources.
    - `says`, `teaches`: the headings of its statements and of what was learned; others for a study of our own.
    """

    name: str
    title: str
    reference: str
    _: KW_ONLY
    sections: tuple[StudySection, ...]
    main_figure: str
    learned: tuple[Lesson, ...]
    cost: Callable[[Trial], float]
    sources: str = ""
    says: str = "the paper says"
    teaches: str = "What we learned that the paper does not say"

    def __post_init__(self) -> None:
        ids = [claim.id for claim in self.claims]
        twice = sorted({id for id in ids if ids.count(id) > 1})
        if twice:
            raise InputError(f"claims of {self.name}", twice, "different ids")
        anchors = [slug(section.title) for section in self.sections] + [d.name for d in self.drawings]
        twice = sorted({anchor for anchor in anchors if anchors.count(anchor) > 1})
        if twice:
            raise InputError(f"sections and drawings of {self.name}", twice, "different names on one page")
        for id in {id for lesson in self.learned for id in lesson.claims}:
            self.claim(id)
        if self.main_figure not in {drawing.name for drawing in self.drawings}:
            names = ", ".join(drawing.name for drawing in self.drawings)
            raise InputError("main_figure", self.main_figure, f"one of {names}")

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All claims, in the order of the sections."""
        return tuple(claim for section in self.sections for claim in section.claims)

    @property
    def headlines(self) -> tuple[Claim, ...]:
        """The claims that the paper's abstract stands on."""
        return tuple(claim for claim in self.claims if claim.headline)

    @property
    def drawings(self) -> tuple[Drawing, ...]:
        """All figures, in the order of the sections."""
        return tuple(drawing for section in self.sections for drawing in section.drawings)

    def arms(self, scale: Scale) -> dict[str, ArmPlan]:
        """All arms at a scale, by name."""
        arms: dict[str, ArmPlan] = {}
        for section in self.sections:
            added = section.arms(scale)
            twice = sorted(arms.keys() & added)
            if twice:
                raise InputError(f"arms of {section.title!r}", twice, "names that no other section uses")
            arms |= added
        return arms

    def claim(self, id: str) -> Claim:
        """The claim with that id."""
        for claim in self.claims:
            if claim.id == id:
                return claim
        known = sorted((claim.id for claim in self.claims), key=lambda one: (len(one), one))
        raise InputError("claim", id, f"one of {', '.join(known)}")

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {len(self.claims)} claims)"


def load(study: str | Study) -> Study:
    """The study with that name; a `Study` is returned as it is.

    **Raises:** [`recombine.InputError`][] if there is no such study.

    ```python
    >>> from recombine.studies import load
    >>> load("forced-rendering").claim("4").published
    '53x'

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
