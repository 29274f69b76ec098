"""The result of `modularity_report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float, Int

from recombine._version import __version__
from recombine.errors import InputError
from recombine.metrics.connectivity import Chain, Labels, Live, Module, Perceptron, extract_modules
from recombine.metrics.connectivity.layered import Orientation
from recombine.modularity.module_search import Source
from recombine.modularity.nulls import Newman
from recombine.modularity.orientation import OrientationSource
from recombine.modularity.pitfalls import Pitfall, pitfalls
from recombine.modularity.separability import Separability
from recombine.modularity.verdict import MAX_P, MIN_Z, MIXED, MODULAR, ModularityVerdict, verdict
from recombine.report import Document, Report, plain_number
from recombine.report.figures.weight_maps import unit_layer_names

if TYPE_CHECKING:
    import polars as pl

    from recombine.report.figures.style import Figure


@dataclass(frozen=True, eq=False, repr=False)
class ModularityReport(Report):
    """What `modularity_report` measured. `print(report)` shows it; `to_dict`, `table` and `page` give its other forms.

    Layer l is `weights[l]`. Units come layer by layer, inputs first and outputs last.

    **Attributes:**

    - `weights`: matrices `(units before, units after)`; `live`: which units are live; `labels`: the module of every
        unit, -1 for dead ones.
    - `modules`: K; `source`: whether the modules of the inputs were known (`"inputs"`), or the number of modules
        (`"number"`), or neither (`"chosen"`).
    - `mass`, `chance`, `score`: `(layers,)`, share of squared weight within modules, what equal weights would give, and
        (mass - chance) / (1 - chance), NaN where all live units are in one module.
    - `disconnection_p`: the share of shuffled nets that fall into as many disconnected parts; `None` for a net in one
        piece.
    - `purity`, `participation`: `(layers,)`, means over the live units behind each layer.
    - `collapsed`, `raw`: `(layers, K + 2)` Laplacian eigenvalues; `None` if some layer has fewer live units than K.
    - `separability`: errors and derivatives; `None` without biases, activation and data.
    - `by_activity`: whether live units were determined by their activity, or by weights alone.
    - `orientation`, `orientation_source`: how the matrices were read, and how that is known.
    """

    name: str
    weights: Chain
    live: Live
    labels: Labels
    modules: int
    source: Source
    mass: Float[np.ndarray, " layers"]
    chance: Float[np.ndarray, " layers"]
    score: Float[np.ndarray, " layers"]
    newman: Newman
    disconnection_p: float | None
    purity: Float[np.ndarray, " layers"]
    participation: Float[np.ndarray, " layers"]
    collapsed: Float[np.ndarray, "layers values"] | None
    raw: Float[np.ndarray, "layers values"] | None
    separability: Separability | None
    net: Perceptron | None
    means: Sequence[np.ndarray] | None
    by_activity: bool
    threshold: float
    convolutions: int
    orientation: Orientation
    orientation_source: OrientationSource

    @cached_property
    def verdict(self) -> ModularityVerdict:
        """Modular, partly modular, mixed or undecided, with the sentence that says why."""
        return verdict(self)

    @cached_property
    def warnings(self) -> Sequence[Pitfall]:
        """What could mislead a reader of these numbers."""
        return pitfalls(self)

    @property
    def is_disconnected(self) -> bool:
        """Whether no weight at all joins different modules, and shuffled weights do not fall apart as well."""
        if self.modules < 2 or self.disconnection_p is None or self.disconnection_p > MAX_P:
            return False
        return not any(
            matrix[(before[:, None] != after) & (before[:, None] >= 0) & (after >= 0)].any()
            for matrix, before, after in zip(self.weights, self.labels[:-1], self.labels[1:], strict=True)
        )

    @property
    def sizes(self) -> Int[np.ndarray, "unit_layers modules"]:
        """Live units of each module among the inputs, in every hidden layer and among the outputs."""
        modules = np.arange(self.modules)
        return np.stack([(values[:, None] == modules).sum(axis=0) for values in self.labels])

    def extract(self) -> list[Module]:
        """The modules as small separate nets, which can be called on the whole net's inputs.

        If activity or data is known, the mean activity of dead units goes into the biases.

        ```python
        >>> import numpy as np
        >>> from recombine import modularity_report
        >>> weights = [np.kron(np.eye(2), np.ones((1, 3))), np.kron(np.eye(2), np.ones((3, 1)))]
        >>> modularity_report(weights, biases=[np.zeros(6), np.zeros(2)], activation="tanh", inputs="own").extract()
        [Module(0: 1-3-1), Module(1: 1-3-1)]

        ```
        """
        if self.net is None:
            raise InputError(
                "activation", None, "the net's biases and activation, to make modules that can be run"
            )
        return extract_modules(self.net, self.labels, means=self.means)

    def table(self, of: Literal["layers", "modules"] = "layers") -> pl.DataFrame:
        """The layers or the modules as a Polars frame, a row each.

        ```python
        >>> import numpy as np
        >>> from recombine import modularity_report
        >>> report = modularity_report([np.kron(np.eye(2), np.ones((3, 3)))] * 2, modules=2)
        >>> report.table().select("layer", "share", "score").rows()
        [(1, 1.0, 1.0), (2, 1.0, 1.0)]
        >>> report.table("modules").rows()
        [(0, 3, 3, 3), (1, 3, 3, 3)]

        ```
        """
        import polars as pl

        names = unit_layer_names(len(self.live))
        if of == "modules":
            columns = {name: self.sizes[layer] for layer, name in enumerate(names)}
            return pl.DataFrame({"module": np.arange(self.modules), **columns})
        if of != "layers":
            raise InputError("of", of, "'layers' or 'modules'")
        spectra = {} if self.collapsed is None or self.raw is None else {
            "eigenvalue_collapsed": self.collapsed[:, self.modules - 1],
            "eigenvalue_raw": self.raw[:, self.modules - 1],
        }  # fmt: skip
        return pl.DataFrame(
            {
                "layer": np.arange(1, len(self.weights) + 1),
                "from": names[:-1],
                "to": names[1:],
                "units": [len(mask) for mask in self.live[1:]],
                "live_units": [int(mask.sum()) for mask in self.live[1:]],
                "share": self.mass,
                "chance": self.chance,
                "score": self.score,
                "purity": self.purity,
                "participation": self.participation,
                **spectra,
            }
        )

    def document(self) -> Document:
        """What the report says; `print`, `page` and the notebook show it."""
        from recombine.modularity.report import document

        return document(self)

    def figure(self) -> Figure:
        """The weight maps, units sorted by module, as a matplotlib figure."""
        from recombine.modularity.report import report_figure

        return report_figure(self)

    def to_dict(self) -> dict[str, Any]:
        """One object of plain values, as `--json` prints it: numbers are finite or `None`."""
        test = self.separability
        return {
            "name": self.name,
            "version": __version__,
            "verdict": {
                "word": self.verdict.word,
                "sentence": self.verdict.sentence,
                "layer": None if self.verdict.layer is None else self.verdict.layer + 1,
                "bounds": {"modular": MODULAR, "mixed": MIXED, "z": MIN_Z},
            },
            "units": [len(mask) for mask in self.live],
            "live": [int(mask.sum()) for mask in self.live],
            "live_by": "activity" if self.by_activity else "weights",
            "threshold": self.threshold,
            "modules": {
                "number": self.modules,
                "source": self.source,
                "sizes": self.sizes.tolist(),
                "labels": [values.tolist() for values in self.labels],
            },
            "layers": [
                {
                    "layer": layer + 1,
                    "shape": list(matrix.shape),
                    "mass": plain_number(self.mass[layer]),
                    "chance": plain_number(self.chance[layer]),
                    "score": plain_number(self.score[layer]),
                    "purity": plain_number(self.purity[layer]),
                    "participation": plain_number(self.participation[layer]),
                    "spectrum_collapsed": _finite_row(self.collapsed, layer),
                    "spectrum_raw": _finite_row(self.raw, layer),
                }
                for layer, matrix in enumerate(self.weights)
            ],
            "newman": _all_finite(asdict(self.newman)),
            "behaviour": None if test is None else _all_finite({**asdict(test), "ratio": test.ratio}),
            "warnings": [asdict(pitfall) for pitfall in self.warnings],
        }

    def __repr__(self) -> str:
        return f"ModularityReport({self.name!r}: {self.verdict.word}, K = {self.modules})"


def _finite_row(table: np.ndarray | None, layer: int) -> list[float | None] | None:
    return None if table is None else [plain_number(value) for value in table[layer]]


def _all_finite(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _all_finite(value)
        if isinstance(value, dict)
        else plain_number(value)
        if isinstance(value, float)
        else value
        for name, value in values.items()
    }
