"""What `modularity_report` gives back, and the forms in which it can be had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.modularity.behaviour import Behaviour
from recombine.modularity.finding import Source
from recombine.modularity.nulls import Newman
from recombine.modularity.pitfalls import Pitfall
from recombine.modularity.verdict import Verdict
from recombine.probes.connectivity import Chain, Labels, Live, Module, Perceptron, extract_modules


@dataclass(frozen=True, eq=False, repr=False)
class ModularityReport:
    """Everything that `modularity_report` found. `print(report)` is the report; `to_dict` and `page` give it otherwise.

    Layer l is `weights[l]`. Units come layer by layer, inputs first and outputs last.

    - `weights`: matrices `(units before, units after)`; `live`: which units take part; `labels`: the module of every
        unit, -1 for dead ones.
    - `modules`: K; `source`: whether the modules of the inputs were known (`"inputs"`), or the number of modules
        (`"number"`), or neither (`"chosen"`).
    - `mass`, `chance`, `score`: `(layers,)`, share of squared weight within modules, what equal weights would give, and
        (mass - chance) / (1 - chance), NaN where all live units are in one module.
    - `purity`, `participation`: `(layers,)`, means over live units behind each layer.
    - `collapsed`, `raw`: `(layers, K + 2)` Laplacian eigenvalues; `None` if some layer has fewer live units than K.
    - `behaviour`: errors and derivatives, `None` without biases, activation and data.
    - `by_activity`: whether live units were told by their activity, or by weights alone.
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
    purity: Float[np.ndarray, " layers"]
    participation: Float[np.ndarray, " layers"]
    collapsed: Float[np.ndarray, "layers values"] | None
    raw: Float[np.ndarray, "layers values"] | None
    behaviour: Behaviour | None
    net: Perceptron | None
    means: Sequence[np.ndarray] | None
    by_activity: bool
    threshold: float
    convolutions: int

    @cached_property
    def verdict(self) -> Verdict:
        """Modular, partly modular, mixed or undecided, with the sentence that says why."""
        from recombine.modularity.verdict import verdict

        return verdict(self)

    @cached_property
    def warnings(self) -> Sequence[Pitfall]:
        """What could mislead a reader of these numbers."""
        from recombine.modularity.pitfalls import pitfalls

        return pitfalls(self)

    @property
    def sizes(self) -> Int[np.ndarray, "places modules"]:
        """Live units of each module among the inputs, in every hidden layer and among the outputs."""
        modules = np.arange(self.modules)
        return np.stack([(values[:, None] == modules).sum(axis=0) for values in self.labels])

    def extract(self) -> list[Module]:
        """The modules as small nets of their own, which can be called on the whole net's inputs.

        What dead units said on average goes into the biases, if activity or data were given.

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

    def __repr__(self) -> str:
        return f"ModularityReport({self.name!r}: {self.verdict.word}, K = {self.modules})"

    def __str__(self) -> str:
        from recombine.modularity.words import text

        return text(self)

    def figure(self) -> Any:
        """The weight maps, units sorted by module, as a matplotlib figure."""
        from recombine.modularity.pictures import report_figure

        return report_figure(self)

    def page(self) -> Any:
        """The report with its picture, as a `recombine.report.Page`."""
        from recombine.modularity.page import page

        return page(self)

    def to_dict(self) -> dict[str, Any]:
        """One object of plain values, as `--json` prints it."""
        from recombine.modularity.plain import as_dict

        return as_dict(self)
