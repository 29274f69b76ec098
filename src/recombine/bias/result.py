"""The result of `implicit_bias_report`, and what it says."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.bias.distance import AT_LIMIT, ON_ITS_WAY, Distance, State
from recombine.bias.explanations import Explanation
from recombine.report import (
    Bullets,
    Column,
    Document,
    Fact,
    Facts,
    Only,
    Picture,
    Report,
    Row,
    Section,
    Table,
    bracket,
    fixed,
    page_footer,
    percent,
    plain_number,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

MEANING: dict[State, str] = {
    "at its limit": "more training would change little, because its weights are close to the smallest that separate "
    "its training rows behind its gates",
    "on its way": "more training would still widen its margins, and can change predictions near the boundary",
    "far from its limit": "its predictions depend on when training was stopped, not only on its architecture and data",
    "not separated": "it gets some training rows wrong, so gradient descent has not begun to choose among solutions",
    "unknown": "its weights could not be compared with those of the limit",
}
WORDS = {
    "hidden layer": "its hidden layer as it is, with a new readout of maximum margin",
    "learned gates": "its gates (which unit is on for which input), with new weights of minimum norm",
    "random gates": "random gates, as many, with new weights of minimum norm",
}
CLEAR = 0.05
"""Differences of explained shares below this are not worth a sentence."""


@dataclass(frozen=True)
class UnseenContexts:
    """Where the compared rows are, by the joint context (which units are on) of the training rows; shares of rows.

    - `seen`: the same units were on for some training row. `determined`: a new combination whose weights follow from
        those of seen ones. `recombined`: a new combination of units that were seen on. `new_part`: some unit was never
        on in training.
    - `joint_contexts`: different combinations in training.
    """

    seen: float
    determined: float
    recombined: float
    new_part: float
    joint_contexts: int


@dataclass(frozen=True, eq=False, repr=False)
class BiasReport(Report):
    """What `implicit_bias_report` found. `print(report)` shows it; `to_dict`, `table` and `page` give its other forms.

    - `layer`, `depth`, `units`: the rectified layer that was compared, and how many such layers come before it.
    - `rows`, `compared`: training rows, and rows on which predictions were compared; `mixtures`: whether these are
        mixtures of training rows.
    - `train_error`, `model_error`: of the model, on training rows and on compared rows (NaN without targets).
    - `explanations`: hidden layer, learned gates, random gates; `distance`: to the limit, where it could be measured.
    - `contexts`: how new the compared rows are; `notes`: what a user should know.
    """

    name: str
    layer: str
    depth: int
    units: int
    rows: int
    compared: int
    mixtures: bool
    train_error: float
    model_error: float
    explanations: tuple[Explanation, ...]
    distance: Distance | None
    contexts: UnseenContexts
    notes: tuple[str, ...]

    @property
    def state(self) -> State:
        """How far training is from its limit."""
        if self.train_error > 0:
            return "not separated"
        return "unknown" if self.distance is None else self.distance.state

    def explanation(self, source: str) -> Explanation:
        """That of the hidden layer, the learned gates or random gates."""
        return next(one for one in self.explanations if one.source == source)

    def __repr__(self) -> str:
        shares = ", ".join(f"{one.source} {percent(one.explained)}" for one in self.explanations)
        return f"BiasReport({self.name}, {self.layer}: {self.state}; explained by {shares})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        distance = None if self.distance is None else asdict(self.distance)
        return {
            "name": self.name,
            "version": __version__,
            "layer": self.layer,
            "depth": self.depth,
            "units": self.units,
            "rows": self.rows,
            "compared": self.compared,
            "mixtures": self.mixtures,
            "state": self.state,
            "train_error": plain_number(self.train_error),
            "model_error": plain_number(self.model_error),
            "explanations": [
                {
                    "source": one.source,
                    "explained": plain_number(one.explained),
                    "agreement": plain_number(one.agreement.value),
                    "interval": [plain_number(end) for end in one.agreement.pair],
                    "by_chance": plain_number(one.by_chance),
                    "error": plain_number(one.error),
                    "separable": one.separable,
                    "units": one.units,
                }
                for one in self.explanations
            ],
            "distance": None if distance is None else {k: plain_number(v) for k, v in distance.items()},
            "contexts": {k: plain_number(v) for k, v in asdict(self.contexts).items()},
            "findings": self.findings(),
            "notes": list(self.notes),
        }

    def table(self) -> pl.DataFrame:
        """One row per explanation."""
        import polars as pl

        return pl.DataFrame(
            [
                {
                    "explained by": one.source,
                    "agreement": one.agreement.value,
                    "by chance": one.by_chance,
                    "explained": one.explained,
                    "error": one.error,
                    "separable": one.separable,
                    "units": one.units,
                }
                for one in self.explanations
            ]
        )

    def findings(self) -> list[str]:
        """What the numbers mean, one sentence each."""
        hidden, learned, drawn = (
            self.explanation(source) for source in ("hidden layer", "learned gates", "random gates")
        )
        states = {"not separated": "Training has not separated its rows", "unknown": "Its limit is unknown"}
        found = [f"{states.get(self.state, f'Training is {self.state}')}: {MEANING[self.state]}."]
        by_gates, by_chance = percent(learned.explained), percent(drawn.explained)
        if math.isnan(learned.explained) or math.isnan(drawn.explained):
            found.append(
                "All machines and the model agree on every row by necessity, so nothing tells them apart: compare them "
                "on harder rows."
            )
        elif learned.explained - drawn.explained > CLEAR:
            found.append(
                f"Its gates explain {by_gates} of its predictions beyond chance, random gates {by_chance}: what it "
                "learned about when units are on matters."
            )
        else:
            found.append(
                f"Its gates explain {by_gates} of its predictions beyond chance, hardly more than random gates do "
                f"({by_chance}): the minimum norm does the work, not what its gates have learned."
            )
        if hidden.explained - learned.explained > CLEAR:
            found.append(
                f"Its hidden layer explains {percent(hidden.explained)}: the rest is in the sizes of its weights, "
                "which a limit of training behind the same gates would change."
            )
        found.append(self._about_contexts())
        return found

    def _about_contexts(self) -> str:
        new = 1 - self.contexts.seen
        if new < CLEAR:
            return "Nearly all compared rows switch on a combination of units that occurred in training."
        text = (
            f"{percent(new)} of the compared rows switch on a combination of units that never occurred in training; "
            "there the net adds up parts that it learned in other combinations"
        )
        if self.contexts.new_part > CLEAR:
            text += f", and in {percent(self.contexts.new_part)} it uses a unit that was never on in training"
        return text + "."

    def document(self) -> Document:
        """What explains the predictions, how far training is from its limit, and what new contexts mean."""
        where = "mixtures of training rows" if self.mixtures else "other rows"
        deeper = f" (the last of {self.depth + 1} rectified layers)" if self.depth else ""
        lead = (
            f"{self.name}: {self.units} rectified units in `{self.layer}`{deeper}, {self.rows} training rows, compared "
            f"on {self.compared} {where}."
        )
        columns = [
            Column("predictions of a machine that uses"),
            Column("agree with the model", "right"),
            Column("by chance", "right"),
            Column("explained", "right"),
            Column("error", "right"),
        ]
        rows = [
            Row(
                [
                    one.source,
                    bracket(one.agreement, unit="%"),
                    percent(one.by_chance),
                    percent(one.explained),
                    "–" if one.error != one.error else percent(one.error),
                ]
            )
            for one in self.explanations
        ]
        if self.model_error == self.model_error:
            rows.append(Row(["the model itself", "–", "–", "–", percent(self.model_error)]))
        explained = [f"**{name}**: {words}." for name, words in WORDS.items()]
        sections = [
            Section("What it means", [Bullets(self.findings())]),
            Section(
                "What explains its predictions", [Table(columns, rows), Only("page", [Bullets(explained)])]
            ),
            Section("Distance to the limit of training", self._distance_blocks()),
            Section("Agreement with the model", [self._picture()], where="page"),
        ]
        if self.notes:
            sections.append(Section("Keep in mind", [Bullets(self.notes)]))
        footer = page_footer(method="after Lippl, Abbott and Chung 2022, arXiv 2202.02649")
        return Document(f"The implicit bias of {self.name}", lead, sections, footer)

    def _distance_blocks(self) -> list[Any]:
        found = self.distance
        if found is None:
            return [f"{MEANING['unknown'][0].upper()}{MEANING['unknown'][1:]}."]
        facts = [
            Fact("norm", f"{_times(found.ratio)} the smallest that has the same margins (1 at the limit)"),
            Fact("margin", f"{percent(found.margin / found.best_margin)} of the largest possible"),
            Fact(
                "weights", f"{percent(found.residual)} not explained by the training rows (0% at the limit)"
            ),
            Fact(
                "balance",
                f"incoming and outgoing weights differ by {percent(found.imbalance)} (0% if balanced)",
            ),
        ]
        if found.dead:
            facts.append(
                Fact("dead units", f"{found.dead} of {self.units} are silent for every training row")
            )
        if found.bias_share > CLEAR:
            text = f"{percent(found.bias_share)} of the outputs' size; the theory's norm leaves it out"
            facts.append(Fact("output bias", text))
        how = (
            f"Up to {AT_LIMIT:g} times the smallest norm a net is at its limit, up to {ON_ITS_WAY:g} times on its way. "
            "The limit keeps the gates that the net has now; further training can change them."
        )
        return [Facts(facts), Only("page", [how])]

    def _picture(self) -> Picture:
        caption = (
            "Share of rows on which each machine predicts what the model predicts, with its interval; the thin line is "
            "the agreement of independent predictions."
        )
        return Picture("agreement", self._drawn, caption, "Agreement of three machines with the model")

    def _drawn(self) -> Figure:
        from recombine.report import BASELINE, blank_figure, colours, look

        names = [one.source for one in self.explanations]
        inks = colours(names)
        with look():
            figure = blank_figure(height=2.2)
            ax = figure.subplots()
            for place, one in enumerate(self.explanations):
                ax.plot(one.agreement.pair, [place, place], color=inks[one.source], linewidth=2)
                ax.plot([one.agreement.value], [place], "o", color=inks[one.source], markersize=5)
                ax.plot([one.by_chance] * 2, [place - 0.3, place + 0.3], color=BASELINE, linewidth=0.8)
                ax.text(one.by_chance, place, " by chance", color=BASELINE, fontsize=7.0, va="center")
            ax.set_yticks(range(len(names)))
            ax.set_yticklabels(names)
            ax.invert_yaxis()
            ax.set_xlim(0, 1.02)
            ax.set_xlabel("share of rows that agree with the model")
        return figure


def _times(ratio: float) -> str:
    return "no multiple of" if ratio != ratio else f"{fixed(ratio, 2)} times"
