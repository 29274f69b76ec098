"""The result of `reuse_report`, and what it says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.metrics.reuse import FATES, REUSED, Fate
from recombine.report import (
    Badge,
    Block,
    Bullets,
    Column,
    Document,
    Only,
    Picture,
    Report,
    Row,
    Section,
    Table,
    bracket,
    count,
    fixed,
    page_footer,
    percent,
    plain_number,
)
from recombine.report.document import Tone
from recombine.report.numbers import MISSING
from recombine.reuse.kernel import TangentMovement
from recombine.reuse.layers import LABELS, RETAINED, SMALLER, Label, LayerReuse
from recombine.reuse.units import UnitShares

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

MEANING: dict[Label, str] = {
    "lazy": "keeps its representation as it was; the layers behind it do the new work",
    "nested": "uses fewer directions, inside those that it had: it has selected from what it knew",
    "rich": "has moved to directions that it did not use before: what it knew plays little part",
    "unclear": "lies too close to a boundary for this number of inputs",
    "constant": "gives the same for every input, before or after, so there is nothing to compare",
}
ADDED = "keeps what it represented and adds directions to it"
TONES: dict[Label, Tone] = {
    "lazy": "open",
    "nested": "good",
    "rich": "open",
    "unclear": "open",
    "constant": "bad",
}
ADVICE: dict[Label, str] = {
    "lazy": "If the new task needs only some of what the model knew, finetuning in the nested regime needs fewer rows: "
    "shrink the pretrained weights before finetuning (`recombine.remedies.rescale(model, 0.5)`, then 0.25 and 0.125; "
    "`search_rescaling` tries them on a validation split). It is not a rule: published vision transformers lose by it.",
    "nested": "Nothing to change: the model selects from what it knew. Other factors of the pretrained weights are "
    "worth trying only if the error on the new task is too high.",
    "rich": "If the old features should help, keep more of them: do not shrink the pretrained weights (`rescale` with "
    "a factor of 1 or more), lower the learning rate, or train the readout first.",
    "unclear": "Give more inputs, or compare only the layers that matter.",
    "constant": "If the layer died in finetuning, lower the learning rate or rescale less; if the inputs are too much "
    "alike, give others.",
}


def meaning(layer: LayerReuse) -> str:
    """What a layer's label means; a lazy layer may have grown."""
    return ADDED if layer.label == "lazy" and layer.kept.low > 1 / SMALLER else MEANING[layer.label]


@dataclass(frozen=True, eq=False, repr=False)
class ReuseReport(Report):
    """What `reuse_report` found. `print(report)` shows it; `to_dict`, `table` and `page` give its other forms.

    - `layers`: one [`recombine.reuse.LayerReuse`][] each, from input to output.
    - `rows`: how many inputs were compared.
    - `displacement`: how far each layer's weights moved relative to their norm, where they could be read.
    - `units`: what became of the units of layers whose incoming and outgoing weights could be read.
    - `tangent`: how far the tangent kernel of the whole model moved; `None` without gradients.
    - `decided_by`: the last hidden layer, whose regime is that of the whole model.
    - `notes`: what a user should know about the models.
    """

    name: str
    layers: tuple[LayerReuse, ...]
    rows: int
    displacement: dict[str, float]
    units: dict[str, UnitShares]
    tangent: TangentMovement | None
    decided_by: str
    notes: tuple[str, ...]

    @property
    def label(self) -> Label:
        """The regime of the whole model: that of its last hidden layer (an output's directions are the new task's)."""
        return self.decisive.label

    @property
    def decisive(self) -> LayerReuse:
        """The layer that decides the label of the whole model."""
        return next(layer for layer in self.layers if layer.name == self.decided_by)

    def __repr__(self) -> str:
        labels = ", ".join(f"{layer.name} {layer.label}" for layer in self.layers[:6])
        more = ", …" if len(self.layers) > 6 else ""
        return f"ReuseReport({self.name}, {self.rows} rows: {labels}{more})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        layers = [
            {
                "name": layer.name,
                "label": layer.label,
                "units": layer.units,
                "used": layer.used,
                **{n: plain_number(getattr(layer, n)) for n in ("before", "after", "shared", "chance")},
                **{
                    n: {
                        "value": plain_number(getattr(layer, n).value),
                        "interval": [plain_number(end) for end in getattr(layer, n).pair],
                    }
                    for n in ("kept", "retained", "persistence")
                },
                "displacement": plain_number(self.displacement.get(layer.name, float("nan"))),
                "matched_units": self.units[layer.name].to_dict() if layer.name in self.units else None,
            }
            for layer in self.layers
        ]
        return {
            "name": self.name,
            "version": __version__,
            "label": self.label,
            "decided_by": self.decided_by,
            "rows": self.rows,
            "layers": layers,
            "tangent_kernel": None if self.tangent is None else self.tangent.to_dict(),
            "advice": ADVICE[self.label],
            "notes": list(self.notes),
        }

    def table(self) -> pl.DataFrame:
        """One row per layer."""
        import polars as pl

        return pl.DataFrame(
            [
                {
                    "layer": layer.name,
                    "label": layer.label,
                    "units": layer.units,
                    "before": layer.before,
                    "after": layer.after,
                    "shared": layer.shared,
                    "kept": layer.kept.value,
                    "retained": layer.retained.value,
                    "persistence": layer.persistence.value,
                    "displacement": self.displacement.get(layer.name),
                    **{fate: self._share(layer.name, fate) for fate in FATES},
                }
                for layer in self.layers
            ]
        )

    def document(self) -> Document:
        """Table of layers, what the labels mean, and what to try."""
        counts = Counter(layer.label for layer in self.layers)
        summary = ", ".join(f"{counts[label]} {label}" for label in LABELS if counts[label])
        lead = (
            f"{self.label}: `{self.decisive.name}` {meaning(self.decisive)}. "
            f"{count(len(self.layers), 'layer')} ({summary}), {self.rows} inputs."
        )
        seen = [
            f"**{label}**: the layer {text}."
            for label in LABELS
            for text in dict.fromkeys(meaning(layer) for layer in self.layers if layer.label == label)
        ]
        sections = [
            Section("Layers", [*self.comparison(), Bullets(seen)]),
            *self._unit_section(),
            *self._tangent_section(),
            Section("What to try", [ADVICE[self.label]]),
            Section("Dimensions by layer", [self._picture()], where="page"),
        ]
        if self.notes:
            sections.append(Section("Keep in mind", [Bullets(self.notes)]))
        footer = page_footer(method="after Lippl and Lindsey 2024, arXiv 2310.02396")
        return Document(f"What {self.name} kept", lead, sections, footer)

    def comparison(self) -> list[Block]:
        """The table of layers, and on a page how to read it."""
        columns = [
            Column("layer"),
            Column("regime"),
            Column("dimensions", "right"),
            Column("after", "right"),
            Column("after / before", "right"),
            Column("inside the old ones", "right"),
            Column("units as before", "right"),
            *([Column("weights moved", "right")] if self._shows_displacement else []),
        ]
        rows = [Row(self._entries(layer)) for layer in self.layers]
        return [Table(columns, rows), Only("page", [_HOW_TO_READ])]

    def _share(self, layer: str, fate: Fate) -> float | None:
        return self.units[layer].shares[fate] if layer in self.units else None

    def _unit_section(self) -> list[Section]:
        """Shares of reused, rotated and fresh units, if weights could be read."""
        shown = {layer.name: self.units[layer.name] for layer in self.layers if layer.name in self.units}
        if not shown:
            return []
        columns = [
            Column("layer"),
            *(Column(fate, "right") for fate in FATES),
            Column("fresh by chance", "right"),
        ]
        rows = [
            Row([name, *(percent(one.shares[fate]) for fate in FATES), percent(one.chance["fresh"])])
            for name, one in shown.items()
        ]
        text = (
            "Shares of what each layer passes on (norm of incoming times norm of outgoing weights), by what became of "
            f"its units: reused (the same direction, cosine of at least {REUSED}), rotated (by at most 60 degrees) or "
            "fresh (any other direction, or silent before)."
        )
        brief = "Shares of what each layer passes on, by what became of the directions of its units."
        return [Section("Units", [Only("page", [text]), Only("terminal", [brief]), Table(columns, rows)])]

    def _tangent_section(self) -> list[Section]:
        if self.tangent is None:
            return []
        return [Section("Tangent kernel", [self.tangent.sentence, Only("page", [_TANGENT])])]

    @property
    def _shows_displacement(self) -> bool:
        return any(layer.name in self.displacement for layer in self.layers)

    def _entries(self, layer: LayerReuse) -> list[str | Badge]:
        entries: list[str | Badge] = [
            layer.name,
            Badge(layer.label, TONES[layer.label]),
            fixed(layer.before, 1),
            fixed(layer.after, 1),
            bracket(layer.kept),
            *(bracket(share, unit="%") for share in (layer.retained, layer.persistence)),
        ]
        if self._shows_displacement:
            moved = self.displacement.get(layer.name)
            entries.append(MISSING if moved is None else fixed(moved, 2))
        return entries

    def _picture(self) -> Picture:
        caption = (
            "Effective number of dimensions of every layer before and after, and of those that both share. Where the "
            "shared ones reach the new ones, the layer stays inside what it knew."
        )
        return Picture("dimensions", self._drawn, caption, "Dimensions of each layer before and after")

    def _drawn(self) -> Figure:
        from recombine.report import blank_figure, colours, look
        from recombine.report.figures.direct_labels import EndLabel, end_labels

        series = {
            "before": [layer.before for layer in self.layers],
            "after": [layer.after for layer in self.layers],
            "shared": [layer.shared for layer in self.layers],
        }
        inks = colours(series)
        with look():
            figure = blank_figure(height=3.0)
            ax = figure.subplots()
            for name, values in series.items():
                ax.plot(range(len(values)), values, "o-", color=inks[name], markersize=3.5, linewidth=1.2)
            ax.set_xticks(range(len(self.layers)))
            ax.set_xticklabels([layer.name for layer in self.layers], rotation=30, ha="right")
            ax.set_ylabel("dimensions")
            ax.set_ylim(bottom=0)
            end_labels(ax, [EndLabel(name, values[-1], inks[name]) for name, values in series.items()])
        return figure


_HOW_TO_READ = (
    "Dimensions are participation ratios of the centred activations. A layer is inside its old directions if at least "
    f"{RETAINED:.0%} of its new dimensions (beyond those of randomly paired units) or of its new variance lie there; "
    f"it is smaller if it has less than {SMALLER:.0%} of its old dimensions. Intervals (95%) come from resampling "
    "groups of inputs."
)
_TANGENT = (
    "The kernel holds inner products of the gradients of the outputs by all parameters: training follows it. If it "
    "hardly moved, the model was lazy as a whole. A linear probe keeps all features but still moves the kernel, since "
    "the readout weights the features' gradients."
)
