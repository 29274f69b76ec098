"""The report of the advice: one document for the terminal, pages and notebooks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recombine.advice.additions.determining_cells import order_name
from recombine.advice.cells_of_interest import cell_name, cell_names, matching_cells
from recombine.advice.coverage import rarest_levels
from recombine.advice.forecasts.shortcut_forecast import shortcut_sentences
from recombine.advice.labels import additivity_heading, additivity_lines, contradiction_lines
from recombine.advice.lint import CODES, unchecked
from recombine.advice.result import Advice
from recombine.advice.thresholds import MAX_LISTED_CELLS
from recombine.report import (
    Badge,
    Block,
    Bullets,
    Column,
    Document,
    Fact,
    Facts,
    Only,
    Row,
    Section,
    Table,
    count,
    page_footer,
)


def advice_document(advice: Advice, *, figures: bool = True) -> Document:
    """The advice as a document; the terminal shows the essentials, a page also tables, a figure and explanations.

    **Arguments:**

    - `figures`: whether to draw the figure, which only pages show.
    """
    steps = _first_steps(advice)
    sections = [
        Section("", [_INTRODUCTION], where="page"),
        Section("Do first", [f"{_capitalised(steps)}."], where="page"),
        Section("Problems with the split", _lint_blocks(advice)),
        Section("What the training data covers", _coverage_blocks(advice)),
        Section("What the training data determines", _determined_blocks(advice, figures=figures)),
        *_addition_sections(advice),
    ]
    if advice.labels is not None:
        lines = additivity_lines(advice.additivity, advice.table)
        lines += contradiction_lines(advice.contradiction, advice.table)
        sections.append(Section(additivity_heading(advice.additivity, len(advice.table.space.shape)), lines))
    if advice.salience.measured is not None:
        sections.append(Section("The layer's saliences", advice.salience.measured.sentences()))
    forecasts = list(_forecasts(advice))
    if forecasts:
        sections.append(Section("Expect", [Only("page", [_FORECASTS]), Facts(forecasts)]))
    if advice.table.notes:
        sections.append(Section("Notes", [Bullets(advice.table.notes)]))
    sections.append(Section("Training cells per level", _level_blocks(advice), where="page"))
    sections.append(Section("", [f"Do first: {steps}."], where="terminal"))
    footer = page_footer()
    return Document(f"Advice on {advice.table.name}", _summary(advice), sections, footer)


_INTRODUCTION = (
    "A **cell** is one combination of levels. A model is trained on the **seen** cells; this page says, before any "
    "training, what the split allows it to know about the **unseen** ones."
)
_DETERMINED = (
    "A cell is **determined** if all sums of effects that fit the training data predict the same value for it. Cells "
    "with a combination that training never shows **depend on the model's inductive bias**: a preference for small "
    "weights, for example, sets the missing effect to 0. A cell is **undetermined** if all its parts are seen, but "
    "never in ways that separate their effects."
)
_FORECASTS = (
    "These forecasts come from kernel machines (linear readouts of a fixed representation) in which the similarity of "
    "two cells depends only on the factors they share. Trained networks follow them in tendency; networks that learn "
    "features can do better or worse."
)


def _summary(advice: Advice) -> str:
    """The size of everything in one line."""
    table, space = advice.table, advice.table.space
    sizes = ", ".join(f"{factor.name} {factor.size}" for factor in space.factors)
    unseen = space.n_cells - len(advice.train)
    parts = [f"{count(len(advice.train))} seen", f"{count(len(advice.targets))} unseen"]
    rest = unseen - len(advice.targets) - advice.excluded
    if rest > 0:
        why = f"; all {count(unseen)} are too many" if advice.settings.interest == "unseen" else ""
        parts[1] += f" with rows ({count(rest)} without rows left out{why})"
    if advice.excluded:
        parts.append(f"{count(advice.excluded)} excluded")
    return (
        f"{table.name}: {count(len(table.cells), 'row')}, {count(len(space.factors), 'factor')} ({sizes}), "
        f"{count(space.n_cells, 'cell')} (combinations): {', '.join(parts)}"
    )


def _nothing_unseen(advice: Advice) -> str:
    """Why there is no cell of interest."""
    rest = advice.table.space.n_cells - len(advice.train) - advice.excluded
    if rest <= 0:
        return "training has every combination"
    return f"no row has an unseen combination (--interest unseen asks about all {count(rest)} of them)"


def _lint_blocks(advice: Advice) -> list[Block]:
    reasons = unchecked(advice.table)
    notes: list[Block] = [f"{code} not checked: {reason}" for code, reason in reasons.items()]
    if not advice.lint:
        others = f", except {', '.join(reasons)}" if reasons else ""
        return [f"✓ none found by the checks {CODES[0]} to {CODES[-1]}{others}", *notes]
    signs = {"error": "✗", "warning": "!"}
    facts = [Fact(f"{signs[problem.severity]} {problem.code}", problem.sentence()) for problem in advice.lint]
    rows = [
        Row(
            [
                problem.code,
                Badge(problem.severity, "bad" if problem.severity == "error" else "open"),
                problem.sentence(),
                problem.action,
            ]
        )
        for problem in advice.lint
    ]
    columns = [Column("code"), Column("severity"), Column("problem"), Column("what to do")]
    return [Only("terminal", [Facts(facts)]), Only("page", [Table(columns, rows)]), *notes]


def _coverage_blocks(advice: Advice) -> list[Block]:
    space, facts = advice.table.space, []
    for order, coverage in advice.coverage.items():
        if coverage.all and order < len(space.shape):
            label = {1: "levels", 2: "pairs", 3: "triples"}.get(order, f"groups of {order}")
            facts.append(Fact(label, coverage.sentence(sum(space.shape))))
    if advice.leak is not None:
        facts.append(Fact("rarest levels", rarest_levels(advice.leak.partners, counts=True)))
    return [Facts(facts)] if facts else []


def _determined_blocks(advice: Advice, *, figures: bool) -> list[Block]:
    if not len(advice.targets):
        return [f"No cell is unseen: {_nothing_unseen(advice)}."]
    n_factors, explain, facts = len(advice.table.space.shape), True, []
    for order, order_advice in advice.orders.items():
        facts.append(
            Fact(order_name(order), order_advice.sentence(advice.table, advice.targets, explain=explain))
        )
        explain &= bool(order_advice.determined.all()) or order == n_factors
    short = "(determined: all sums of effects that fit the training data predict the same value)"
    blocks: list[Block] = [Only("terminal", [short]), Only("page", [_DETERMINED]), Facts(facts)]
    if figures:
        from recombine.advice.figures import cells_picture

        picture = cells_picture(advice)
        blocks += [Only("page", [picture])] if picture else []
    return blocks


def _addition_sections(advice: Advice) -> Iterator[Section]:
    """For every order a table of the cells to add."""
    for order, order_advice in advice.orders.items():
        cells = order_advice.additions.cells
        if len(cells) and order < len(advice.table.space.shape):
            yield Section(f"Cells to add {order_name(order)}", [_cells_table(advice, cells)], where="page")


def _cells_table(advice: Advice, cells: np.ndarray) -> Table:
    columns = [Column(name) for name in advice.table.space.names]
    rows = [
        Row([str(level) for level in advice.table.describe(cell).values()])
        for cell in cells[:MAX_LISTED_CELLS]
    ]
    caption = f"The first {MAX_LISTED_CELLS} of {count(len(cells))}." if len(cells) > MAX_LISTED_CELLS else ""
    return Table(columns, rows, caption)


def _forecasts(advice: Advice) -> Iterator[Fact]:
    """What to expect of a trained model: a name and a sentence for each forecast."""
    saliences = advice.salience.description()
    if advice.leak is not None:
        whose = "a random ReLU network with 3 layers" if advice.salience.assumed else saliences
        yield Fact("memorisation leak", advice.leak.sentence(f"assuming {whose}"))
    if advice.slope is not None:
        yield Fact("slope", advice.slope.sentence())
    for sentence in shortcut_sentences(advice.shortcuts, advice.table.space.names):
        yield Fact("shortcut", sentence)
    if advice.losses is not None:
        yield Fact("loss", advice.losses.sentence())
    if advice.corrective_cells is not None:
        yield Fact("corrective cells", advice.corrective_cells.sentence(advice.table, saliences))


def _level_blocks(advice: Advice) -> list[Block]:
    if advice.leak is None:
        return [f"No cell is unseen: {_nothing_unseen(advice)}."]
    rows = [
        Row([name, str(level), count(number)])
        for name, levels in advice.leak.partners.items()
        for level, number in levels[:5]
    ]
    columns = [Column("factor"), Column("level"), Column("training cells", "right")]
    return [Table(columns, rows, "The five rarest levels of each factor.")]


def _first_steps(advice: Advice) -> str:
    """What helps most, in one sentence without its period."""
    table, space = advice.table, advice.table.space
    added = advice.orders[advice.main_order].additions
    steps = []
    if len(added.cells) and advice.main_order < len(space.shape):
        steps.append(f"add {cell_names(table, added.cells, 2)}")
    # A new level (L2) that one of these cells has is taken care of.
    covered = {level for cell in added.cells for level in table.describe(cell).items()} if steps else set()
    steps += [
        problem.action
        for problem in advice.lint
        if problem.severity == "error" and problem.level not in covered
    ]
    if advice.contradiction is not None:
        banned = matching_cells(table, advice.contradiction, advice.settings.ban, "ban")
        for cell in advice.contradiction[~banned][:1]:
            steps.append(f"add some of the cells that are out of reach, such as {cell_name(table, cell)}")
    if advice.leak is not None and advice.leak.is_large:
        steps.append(f"train rare levels in more combinations ({rarest_levels(advice.leak.partners)})")
    misleading = next((rule for rule in advice.shortcuts if rule.misleads), None)
    if misleading is not None:
        names = " and ".join(space.names[axis] for axis in misleading.factors)
        steps.append(f"balance {names} across labels")
    if advice.corrective_cells is not None and len(advice.corrective_cells.cells):
        steps.append(f"add the {count(len(advice.corrective_cells.cells), 'corrective cell')}")
    if advice.losses is not None and advice.losses.squared_helps:
        steps.append("try squared loss instead of cross-entropy")
    steps = list(dict.fromkeys(steps))
    if steps:
        short = len(steps) == 2 and not any(" or " in step for step in steps)
        return (" and " if short else "; ").join(steps) + ". Then train"
    return "train; nothing stands in the way" if len(advice.targets) else f"train; {_nothing_unseen(advice)}"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
