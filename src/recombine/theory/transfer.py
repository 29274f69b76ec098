"""What finetuning will do to a linear feature learner, from the two teachers alone: no network is trained.

A diagonal linear network that has learned an auxiliary task is finetuned on `n` rows of a main task. Its limit is a
convex programme (`recombine.theory.penalties`), so the error follows for every number of rows and every rescaling of
the pretrained weights. Inputs are uniform on a sphere with mean square 1, so the error of coefficients is their squared
distance from the teacher's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.intervals import interval
from recombine.report import Column, Document, Picture, Report, Row, Section, Table, bracket, number
from recombine.tasks import diagonal_teachers, sphere_inputs
from recombine.tasks.draws import checked_seed
from recombine.theory.penalties import REGIMES, DiagonalPenalty, DiagonalWeights, finite
from recombine.theory.penalty_programmes import min_diagonal_penalty, min_l2

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

MAX_FEATURES, MAX_ROWS, MAX_PROGRAMMES = 10_000, 4096, 10_000
"""Bounds on one forecast; a programme with 1000 features and 512 rows takes 1 to 2 s."""
FROM_SCRATCH, PROBE = "from scratch", "linear probe"


@dataclass(frozen=True, repr=False)
class TransferForecast(Report):
    """The error on the main task for several numbers of rows, by learner, as a share of always predicting zero.

    - `n`: numbers of rows.
    - `errors`: for every learner an array `(n, draws)`. Learners are `from scratch`, `linear probe` and
        `finetuned, scale s` for every rescaling s of the pretrained weights.
    - `regimes`: for every scale the share of the main task's squared coefficients learned in each regime.
    """

    n: tuple[int, ...]
    errors: dict[str, Float[np.ndarray, "n draws"]]
    regimes: dict[float, dict[str, float]]
    overlap: float

    @property
    def best(self) -> dict[int, str]:
        """For every number of rows the learner with the lowest median error."""
        medians = {name: np.median(values, axis=1) for name, values in self.errors.items()}
        return {n: min(medians, key=lambda name: float(medians[name][i])) for i, n in enumerate(self.n)}

    def table(self) -> pl.DataFrame:
        """One row per learner, number of rows and draw."""
        import polars as pl

        return pl.DataFrame(
            [
                {"learner": name, "n": n, "draw": draw, "error": float(values[i, draw])}
                for name, values in self.errors.items()
                for i, n in enumerate(self.n)
                for draw in range(values.shape[1])
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "n": list(self.n),
            "overlap": self.overlap,
            "errors": {name: values.tolist() for name, values in self.errors.items()},
            "regimes": [{"scale": scale, **shares} for scale, shares in self.regimes.items()],
            "best": [{"n": n, "learner": name} for n, name in self.best.items()],
        }

    def document(self) -> Document:
        """The errors, the regimes and the curves."""
        errors = Table(
            [Column("learner"), *(Column(f"n = {n}", "right") for n in self.n)],
            [
                Row([name, *(bracket(interval(draws)) for draws in rows)])
                for name, rows in self.errors.items()
            ],
            caption="Error on the main task as a share of always predicting zero, median over draws",
        )
        regimes = Table(
            [Column("rescaling", "right"), *(Column(regime, "right") for regime in REGIMES)],
            [
                Row([number(scale), *(f"{shares[r]:.0%}" for r in REGIMES)])
                for scale, shares in self.regimes.items()
            ],
            caption="Share of the main task that is learned in each regime",
        )
        best = "; ".join(f"{n} rows: {name}" for n, name in self.best.items())
        lead = f"{self.overlap:.0%} of the main task lies on features of the auxiliary task. Best learner: {best}."
        picture = Picture(
            "transfer", self._drawn, "Error against the number of rows, median over draws.", "Transfer"
        )
        return Document(
            "What finetuning will do",
            lead,
            [Section("", [errors]), Section("", [regimes]), Section("", [picture], where="page")],
        )

    def _drawn(self) -> Figure:
        from recombine.report import blank_figure, colours, look
        from recombine.report.figures.direct_labels import EndLabel, end_labels
        from recombine.report.figures.style import log_ticks

        inks, ends = colours(self.errors), []
        with look():
            figure = blank_figure(height=3.0)
            ax = figure.subplots()
            for name, values in self.errors.items():
                middle = np.median(values, axis=1)
                ax.plot(self.n, middle, "o-", color=inks[name], markersize=3.5, linewidth=1.2)
                ends.append(EndLabel(name, float(middle[-1]), inks[name]))
            ax.set_xscale("log")
            ax.set_yscale("log")
            log_ticks(ax.xaxis)
            log_ticks(ax.yaxis)
            ax.set_xlabel("rows of the main task")
            ax.set_ylabel("error / predicting zero")
            end_labels(ax, ends)
        return figure

    def __repr__(self) -> str:
        best = ", ".join(f"{n} rows: {name}" for n, name in self.best.items())
        return f"TransferForecast(overlap {self.overlap:.0%}; best {best})"


def predict_transfer(
    beta_aux: Float[np.ndarray, " features"],
    beta_main: Float[np.ndarray, " features"],
    n: int | Sequence[int],
    scale: float | Sequence[float] = 1.0,
    *,
    initial: float = 1e-3,
    readout: float = 1e-3,
    draws: int = 6,
    seed: int = 0,
) -> TransferForecast:
    """The generalisation curve of finetuning, next to learning from scratch and to a linear probe.

    **Arguments:**

    - `beta_aux`, `beta_main`: coefficients of the two teachers. The auxiliary task is assumed to be learned perfectly.
    - `n`: numbers of rows of the main task.
    - `scale`: factors by which all weights are multiplied before finetuning.
    - `initial`: initial weights of pretraining, and of learning from scratch.
    - `readout`: the value at which the readout starts anew, before rescaling.
    - `draws`: how many sets of rows are drawn; `seed` determines them.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import predict_transfer
    >>> aux = np.zeros(100); aux[:8] = 8 ** -0.5
    >>> main = np.zeros(100); main[:2] = 0.5  # a subset of the known features
    >>> predict_transfer(aux, main, n=[8, 16], scale=[1, 0.1])
    TransferForecast(overlap 100%; best 8 rows: linear probe, 16 rows: finetuned, scale 0.1)

    ```
    """
    aux, main = finite("beta_aux", beta_aux, ndim=1), finite("beta_main", beta_main, ndim=1)
    counts = _numbers("n", n, whole=True)
    scales = _numbers("scale", scale)
    _numbers("initial", [initial])
    _numbers("readout", [readout])
    _check(aux, main, counts, scales, draws)
    seed = checked_seed(seed)
    power = float((main**2).sum())
    start = DiagonalWeights.constant(len(aux), w=initial, v=initial)
    pretrained = start.trained_to(aux).with_readout(readout)
    stages = {s: pretrained.rescaled(s) for s in scales}
    errors: dict[str, list[list[float]]] = {name: [] for name in _learners(scales)}
    for rows in counts:
        per_draw = [_errors(rows, draw, start, stages, main, seed) for draw in range(draws)]
        for name, found in errors.items():
            found.append([one[name] / power for one in per_draw])
    return TransferForecast(
        n=tuple(int(rows) for rows in counts),
        errors={name: np.array(values) for name, values in errors.items()},
        regimes={
            s: _regime_shares(stage.penalty(), main, s, initial, readout) for s, stage in stages.items()
        },
        overlap=float((main[aux != 0] ** 2).sum() / power),
    )


def _learners(scales: Sequence[float]) -> Iterator[str]:
    yield FROM_SCRATCH
    yield PROBE
    for s in scales:
        yield finetuned(s)


def finetuned(scale: float) -> str:
    """The name of a finetuned learner."""
    return f"finetuned, scale {scale:g}"


def _errors(
    rows: int,
    draw: int,
    start: DiagonalWeights,
    stages: dict[float, DiagonalWeights],
    main: np.ndarray,
    seed: int,
) -> dict[str, float]:
    """The squared distance from the main teacher, for every learner on one set of rows."""
    rng = np.random.default_rng([seed, draw, rows])
    x = sphere_inputs(rows, len(main), rng)
    y = x @ main
    found = {FROM_SCRATCH: min_diagonal_penalty(x, y, start.penalty())}
    first = next(iter(stages.values()))
    weights = first.w_plus**2 + first.w_minus**2
    found[PROBE] = min_l2(x, y, weights=weights, start=first.coefficients)
    for s, stage in stages.items():
        found[finetuned(s)] = min_diagonal_penalty(x, y, stage.penalty())
    return {name: float(((solution.coefficients - main) ** 2).sum()) for name, solution in found.items()}


def _regime_shares(
    penalty: DiagonalPenalty, main: np.ndarray, scale: float, initial: float, readout: float
) -> dict[str, float]:
    """The share of the main task's squared coefficients in each regime."""
    labels = penalty.regimes(main, background=2 * scale**2 * (initial**2 + readout**2))
    return {regime: float((main[labels == regime] ** 2).sum() / (main**2).sum()) for regime in REGIMES}


@dataclass(frozen=True, eq=False)
class PhaseDiagram:
    """The error of finetuning over a grid of rescalings and of one property of the tasks.

    - `axis`, `values`: `overlap` (features shared) or `active` (features of the main task), and its values.
    - `scales`: factors of the pretrained weights.
    - `errors`: `(values, scales)`, medians over draws, as shares of always predicting zero.
    - `scratch`: `(values,)`, of learning from scratch.
    """

    axis: str
    values: tuple[int, ...]
    scales: tuple[float, ...]
    errors: Float[np.ndarray, "values scales"]
    scratch: Float[np.ndarray, " values"]

    @property
    def best_scale(self) -> tuple[float, ...]:
        """The best rescaling for each value, of those that were tried."""
        errors = np.where(np.isnan(self.errors), np.inf, self.errors)
        return tuple(self.scales[i] for i in np.argmin(errors, axis=1))


def phase_diagram(
    *,
    scales: float | Sequence[float],
    overlaps: int | Sequence[int] | None = None,
    active: int | Sequence[int] | None = None,
    features: int = 1000,
    known: int = 40,
    n: int = 64,
    draws: int = 6,
    seed: int = 0,
) -> PhaseDiagram:
    """Where rescaling helps: errors over rescaling and either overlap or sparsity of the main task.

    **Arguments:**

    - `overlaps`: how many of the main task's `known` features the auxiliary task shares; or
    - `active`: how many features the main task has, all of them known.
    - `features`, `known`: inputs, and features of the auxiliary task.
    - `n`: rows of the main task.

    ```python
    >>> from recombine.theory import phase_diagram
    >>> found = phase_diagram(scales=[1, 0.1], active=[1, 8], features=60, known=8, n=12, draws=2)
    >>> found.errors.shape
    (2, 2)

    ```
    """
    if (overlaps is None) == (active is None):
        raise InputError("overlaps, active", "both or neither", "one of them")
    scales = _numbers("scales", scales)
    if len(_numbers("n", n, whole=True)) > 1:
        raise InputError("n", n, "one number of rows")
    _numbers("known", known, whole=True)
    field, axis = ("overlaps", "overlap") if overlaps is not None else ("active", "active")
    given: Any = active if overlaps is None else overlaps
    values = _listed(given)
    for value in values:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not (axis == "active") <= value <= known:
            raise InputError(field, value, f"whole numbers up to known, {known}")
    if not values:
        raise InputError(field, given, "at least one value")
    if features < 2 * known:
        raise InputError("features", features, f"at least twice known, {2 * known}")
    _check_draws(draws)
    grid, scratch = [], []
    for value in values:
        medians = []
        for draw in range(draws):
            active_features = value if axis == "active" else known
            pair = diagonal_teachers(
                inputs=features, known=known, active=active_features, overlap=value, seed=seed + 1000 * draw
            )
            aux, main = (teacher.coefficients for teacher in pair)
            found = predict_transfer(aux, main, n, scales, draws=1, seed=seed + 1000 * draw)
            medians.append(
                [float(found.errors[name][0, 0]) for name in (*map(finetuned, scales), FROM_SCRATCH)]
            )
        middle = np.median(medians, axis=0)
        grid.append(middle[:-1])
        scratch.append(middle[-1])
    return PhaseDiagram(
        axis, tuple(map(int, values)), tuple(map(float, scales)), np.array(grid), np.array(scratch)
    )


def _listed(given: Any) -> list[Any]:
    several = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str)
    return list(given) if several else [given]


def _numbers(name: str, given: Any, *, whole: bool = False) -> list[Any]:
    values = _listed(given)
    kind = "a positive whole number" if whole else "a positive number"
    for value in values:
        right = isinstance(value, int | np.integer) if whole else isinstance(value, int | float | np.number)
        if isinstance(value, bool) or not right or not np.isfinite(value) or value <= 0:
            raise InputError(name, value, f"{kind}, or several")
    if not values or len(set(values)) != len(values):
        raise InputError(name, given, f"{kind}, or several different ones")
    return values


def _check_draws(draws: int) -> None:
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise InputError("draws", draws, "a positive whole number")


def _check(aux: np.ndarray, main: np.ndarray, counts: list[Any], scales: list[Any], draws: int) -> None:
    if aux.shape != main.shape:
        raise InputError("beta_main", main.shape, f"as many features as beta_aux, {aux.shape}")
    if not (main != 0).any():
        raise InputError("beta_main", "only zeros", "a main task that depends on some feature")
    if len(main) > MAX_FEATURES:
        raise InputError("beta_main", len(main), f"at most {MAX_FEATURES} features")
    if max(counts) > MAX_ROWS:
        raise InputError("n", max(counts), f"at most {MAX_ROWS} rows")
    _check_draws(draws)
    programmes = len(counts) * (len(scales) + 2) * draws
    if programmes > MAX_PROGRAMMES:
        raise InputError("n, scale, draws", programmes, f"at most {MAX_PROGRAMMES} programmes in all")
