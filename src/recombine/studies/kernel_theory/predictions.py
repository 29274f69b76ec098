"""What the theory predicts for the tasks: outputs, margins, regions and verdicts, without training."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.metrics import additive_fit
from recombine.metrics.additivity import AdditiveFit
from recombine.studies.kernel_theory.identities import machine_predictions, seed_of
from recombine.tasks import (
    Task,
    addition,
    context_dependence,
    dispersed_addition,
    invariance,
    logical,
    partial_exposure,
    transitive_chain,
    transitive_equivalence,
    transitive_ordering,
    transverse_patterning,
)
from recombine.theory import (
    OverlapKernel,
    addition_slope,
    context_margin,
    context_squared,
    estimate_salience,
    max_margin,
    min_norm,
    random_features,
    random_network,
    support_vector_regression,
    task_verdicts,
)
from recombine.theory.overlap_kernels import overlaps

Values = dict[str, Any]

KINDS = ("right", "wrong", "sensory", "context", "memorisation")
"""Conjunctions in context dependence: context with the relevant feature, with the other one, features, context, all."""
REPRESENTATIONS = {"Rep. 1": ("quadratic", 3), "Rep. 2": ("relu", 3)}
"""The two points that the published map marks."""


def equivalence(task: Task) -> Values:
    """Transitive equivalence in its three sizes: outputs on unseen pairs, and whether correct signs are possible."""
    largest, possible = [], []
    for classes, hubs in (((2, 2), (1, 1)), ((5, 5), (1, 1)), ((5, 5), (4, 4))):
        table = transitive_equivalence(classes=classes, hubs=hubs)
        for salience in (0.1, 0.3, 0.45):
            kernel = OverlapKernel.by_count([0, salience, 1])
            for offset in (False, True):
                outputs, _ = machine_predictions(table, kernel, offset=offset)
                largest.append(np.abs(outputs).max())
        possible.append(verdicts_of(table).expressible_signs)
    return {"largest_output": max(largest), "signs_possible": np.array(possible, dtype=float)}


def ordering(task: Task) -> Values:
    """Transitive ordering: the share of right signs, and mean margins by distance."""
    table, right, by_distance = transitive_ordering(), [], []
    cells = table.split.space.cells[table.cell]
    distance = np.abs(cells[:, 0] - cells[:, 1])
    targets, seen = table.targets.ravel().astype(float), table.split.seen[table.cell]
    for salience in (0.1, 0.3, 0.45, 0.4264):
        kernel = OverlapKernel.by_count([0, salience, 1])
        margin = min_norm(kernel.gram(cells[seen]), targets[seen])(kernel.gram(cells, cells[seen])) * targets
        right.append((margin[~seen] > 0).mean())
        by_distance.append([margin[distance == d].mean() for d in range(1, 7)])
    return {"ordering_right": np.array(right), "ordering_margins": np.array(by_distance)}


def context_tables(task: Task) -> Values:
    """Sizes of CD-3, CD-2 and CD-1, and the accuracy of context alone."""
    sizes, alone, unseen = [], [], []
    for hidden in (3, 2, 1):
        table = context_dependence(hidden=hidden)
        context, target, seen = table.split.space.cells[:, 0], table.targets.ravel(), table.split.seen
        guess = np.array([np.sign(target[seen & (context == c)].sum()) for c in (0, 1)])[context]
        sizes.append([seen.sum(), (~seen).sum()])
        alone.append((guess == target)[seen].mean())
        unseen.append((guess == target)[~seen].mean())
    return {
        "context_sizes": np.array(sizes),
        "context_alone": np.array(alone),
        "context_unseen": np.array(unseen),
    }


def context_forms(task: Task, *, count: int = 120) -> Values:
    """Closed forms of CD-3 compared with machines, for random saliences and two to four levels per class."""
    rng, wrong = seed_of(task), 0
    margin_gap: list[float] = []
    squared_gap: list[float] = []
    for i in range(count):
        r = 2 + i % 3
        salience = rng.uniform(0.05, 1, size=3)
        table = context_dependence(hidden=r, per_class=r)
        kernel = OverlapKernel.by_order([0, *salience])
        for solve, form, gaps in (
            (max_margin, context_margin, margin_gap),
            (min_norm, context_squared, squared_gap),
        ):
            outputs, targets = machine_predictions(table, kernel, offset=True, solve=solve)
            expected = form(*salience, per_class=r)
            gaps.append(np.abs(outputs * targets - expected.margin).max())
            wrong += expected.generalises != (expected.margin > 0)
    return {
        "margin_gap": max(margin_gap),
        "squared_gap": max(squared_gap),
        "criterion_wrong": wrong,
        "compared": count,
    }


def context_margins(kernel: OverlapKernel, solve: Any = max_margin) -> np.ndarray:
    """The smallest test margin of CD-3, CD-2 and CD-1."""
    values = []
    for hidden in (3, 2, 1):
        outputs, targets = machine_predictions(
            context_dependence(hidden=hidden), kernel, offset=True, solve=solve
        )
        values.append((outputs * targets).min())
    return np.array(values)


def region(task: Task) -> Values:
    """The map of which of the three context tasks generalise, on the published grid of saliences.

    `region` `(50, 25)`: how many of CD-1, CD-2, CD-3 pass, nested; -1 outside. First axis S(1;3) = i / 147, second
    S(2;3) = 2 j / 147.
    """
    labels = np.full((50, 25), -1)
    for i in range(50):
        for j in range(25):
            s1, s2 = i / 147, 2 * j / 147
            s3 = 1 - 3 * s1 - 3 * s2
            if s3 < -1e-9:
                continue
            if s3 <= 0.002:
                labels[i, j] = -2  # the solver does not converge where whole cells have no salience
            elif s2 == 0:
                labels[i, j] = _passed(OverlapKernel.by_order([0, s1, 0, s3]), exact=None)
            else:
                labels[i, j] = _passed(
                    OverlapKernel.by_order([0, s1, s2, s3]), exact=context_margin(s1, s2, s3).generalises
                )
    return {"region": labels}


def _passed(kernel: OverlapKernel, exact: bool | None) -> int:
    """How many of the three tasks pass; CD-3 by its closed form if there is one."""
    passed = 0
    for hidden in (1, 2, 3):
        if hidden == 3 and exact is not None:
            passes = exact
        else:
            outputs, targets = machine_predictions(
                context_dependence(hidden=hidden), kernel, solve=_loose_margin
            )
            passes = bool(((outputs * targets) > 1e-6).all())
        if not passes:
            break
        passed += 1
    return passed


def _loose_margin(gram: np.ndarray, labels: np.ndarray) -> Any:
    return max_margin(gram, labels, tolerance=1e-5, max_steps=-1)


def depths(task: Task) -> Values:
    """Which random networks pass CD-3 at each depth, by the closed form, and the two marked representations."""
    passes = {
        f"passes_{name}": np.array(
            [
                context_margin(*random_network(3, depth, name).order_shares).generalises
                for depth in range(1, limit + 1)
            ]
        ).astype(float)
        for name, limit in (("relu", 30), ("gaussian", 100), ("step", 30), ("leaky", 30), ("quadratic", 30))
    }
    marked = [context_margins(random_network(3, depth, name)) for name, depth in REPRESENTATIONS.values()]
    trajectory = [
        [
            context_margin(*random_network(3, d).order_shares).margin,
            context_squared(*random_network(3, d).order_shares).margin,
        ]
        for d in range(1, 31)
    ]
    return {**passes, "marked_margins": np.array(marked), "relu_margins": np.array(trajectory).T}


def failure_modes(task: Task, *, layers: int = 10) -> Values:
    """Both failure modes in random ReLU networks of 1 to `layers` layers: kernel machines against closed forms.

    **Returns:**

    - `leak_slopes`, `leak_law` `(2, layers)`: the slope of predictions on unseen sums for one and for two training
        partners of every number, from the machine and from `m = p S / (1 + (p - 2) S)`;
    - `shortcut_margins`, `shortcut_law` `(layers,)`: the margin on unseen cells of CD-3, from the maximum-margin
        machine and from its closed form.
    """
    slopes, law, margins, forms = [], [], [], []
    for anchors, partners in (("extrapolation", 1), ("both", 2)):
        table = addition(anchors=anchors)
        for depth in range(1, layers + 1):
            kernel = random_network(2, depth)
            outputs, targets = machine_predictions(table, kernel, offset=True)
            slopes.append(np.polyfit(targets, outputs, 1)[0])
            law.append(addition_slope(float(kernel.order_shares[0]), partners))
    for depth in range(1, layers + 1):
        kernel = random_network(3, depth)
        outputs, targets = machine_predictions(context_dependence(hidden=3), kernel, solve=max_margin)
        margins.append((outputs * targets).min())
        forms.append(context_margin(*kernel.order_shares).margin)
    return {
        "leak_slopes": np.reshape(slopes, (2, layers)),
        "leak_law": np.reshape(law, (2, layers)),
        "shortcut_margins": np.array(margins),
        "shortcut_law": np.array(forms),
    }


def kind_sizes(fit: AdditiveFit) -> np.ndarray:
    """Mean size of the coefficients of each of the five `KINDS` of conjunctions."""
    gathered: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for subset, values in fit.values.items():
        for levels, value in zip(fit.levels[subset], values, strict=True):
            gathered[conjunction_kind(subset, levels)].append(abs(float(value)))
    return np.array([np.mean(gathered[kind]) for kind in KINDS])


def conjunction_kind(subset: tuple[int, ...], levels: np.ndarray) -> str:
    """Which of the five `KINDS` a conjunction of (context, feature 1, feature 2) is."""
    if subset == (0,):
        return "context"
    if 0 not in subset:
        return "sensory"
    if len(subset) == 3:
        return "memorisation"
    return "right" if (levels[0] == 0) == (subset[1] == 1) else "wrong"


def decompositions(task: Task) -> Values:
    """Coefficients of perfect predictions, and of predictions that are right on seen and inverted on unseen cells."""
    values = []
    for hidden, invert in ((3, False), (2, False), (1, False), (3, True)):
        table = context_dependence(hidden=hidden)
        outputs, seen = table.targets.ravel().astype(float), table.split.seen
        outputs = np.where(seen | (not invert), outputs, -outputs)
        values.append(kind_sizes(additive_fit(outputs, table.split.space.cells, seen)))
    return {"kind_sizes": np.array(values)}


def dispersed(task: Task, *, sets: int = 50) -> Values:
    """Addition from dispersed training sets by salience: mean test error, exactly and with the published tolerance."""
    saliences = np.linspace(0, 0.5, 51)
    exact, tube = np.zeros(51), np.zeros(51)
    for seed in range(1, sets + 1):
        table = dispersed_addition(seed=seed)
        for i, salience in enumerate(saliences):
            kernel = OverlapKernel.by_count([0, salience, 1])
            for errors, solve in ((exact, min_norm), (tube, support_vector_regression)):
                outputs, targets = machine_predictions(table, kernel, offset=True, solve=solve)
                errors[i] += ((outputs - targets) ** 2).mean() / sets
    return {"dispersed_exact": exact, "dispersed_tube": tube}


def verdicts_of(table: Task) -> Any:
    """The four verdicts of a task."""
    cells, seen = table.split.space.cells[table.cell], table.split.seen[table.cell]
    labels = table.targets.ravel()
    return task_verdicts(cells[seen], labels[seen], cells[~seen], labels[~seen], table.split.space.shape)


def verdicts(task: Task) -> Values:
    """How many verdicts are as expected, task by task."""

    def odd(table: Task) -> np.ndarray:
        cells = table.split.space.cells[table.cell[table.rows_out]]
        return np.abs(cells[:, 0] - cells[:, 1]) % 2 == 1

    correct = []
    for anchors in ("extrapolation", "interpolation", "both", "asymmetric"):
        result = verdicts_of(addition(anchors=anchors))
        correct.append(result.fit[1] and result.cells[1].determined.all())
    for hidden in (1, 2, 3):
        result = verdicts_of(context_dependence(hidden=hidden))
        correct.append(not result.fit[1] and result.fit[2] and result.cells[2].norm_completed.all())
    for table in (
        transitive_equivalence(),
        transitive_equivalence(classes=(5, 5), hubs=(1, 1)),
        transitive_chain(),
    ):
        result = verdicts_of(table)
        correct.append(not result.expressible and not result.expressible_signs)
    result = verdicts_of(transitive_ordering())
    correct.append(
        result.expressible_signs and (result.cells[1].determined == odd(transitive_ordering())).all()
    )
    correct.append(not verdicts_of(transverse_patterning()).fit_signs[1])
    for operation in ("and", "or", "xor"):
        correct.append(verdicts_of(logical(operation=operation)).cells[1].determined.all())
    correct.append(verdicts_of(partial_exposure()).cells[1].determined.all())
    correct.append(verdicts_of(invariance()).cells[1].norm_completed.all())
    return {"verdicts_right": int(np.sum(correct)), "verdicts": len(correct)}


def finite_network(task: Task, *, units: int = 20_000) -> Values:
    """Random ReLU features of 81 pairs: salience, and how much similarity varies within one overlap."""
    cells = np.indices((9, 9)).reshape(2, -1).T
    seed = int(seed_of(task).integers(2**31))
    activity = random_features(cells, (9, 9), units=units, seed=seed)
    values = estimate_salience(activity, cells)
    products = activity @ activity.T
    kind = overlaps(cells, cells, 2)
    spread = [products[kind == k].std() / products[kind == k].mean() for k in range(4)]
    return {
        "salience": values.order_shares[0],
        "salience_low": values.interval[0, 0],
        "salience_high": values.interval[0, 1],
        "within_kind": max(spread),
    }
