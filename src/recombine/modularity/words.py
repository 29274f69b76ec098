"""The report in words."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent, wrap

import numpy as np

from recombine.modularity.nulls import Null
from recombine.modularity.phrases import number_of
from recombine.modularity.result import ModularityReport
from recombine.modularity.tables import layer_table, module_table
from recombine.report import fixed, number, table_text


def text(report: ModularityReport, width: int = 110) -> str:
    """The report as lines of at most `width` characters."""
    lines = [*wrap(heading(report), width), "", *wrap(str(report.verdict), width)]
    for title, table in (("Layers", layer_table(report)), ("Modules", module_table(report))):
        lines += ["", title, *indent(table_text(table, width=width - 2), "  ").split("\n")]
    lines += ["", "Whole net"]
    for name, sentence in whole_net(report):
        lines += wrap(f"{name:<20}{sentence}", width, initial_indent="  ", subsequent_indent=" " * 22)
    if report.warnings:
        lines += ["", "Keep in mind"]
        for found in report.warnings:
            sentence = f"! {found.code:<5}{found.message}"
            lines += wrap(sentence, width, initial_indent="  ", subsequent_indent=" " * 9)
    return "\n".join(lines)


def heading(report: ModularityReport) -> str:
    """The size of everything, and where the modules come from, in one line."""
    units = "-".join(str(len(mask)) for mask in report.live)
    kernels = ""
    if report.convolutions:
        kernels = f" ({number_of(report.convolutions, 'convolution')}, counted by channels)"
    ways = {
        "inputs": "those of the inputs were given",
        "number": "found in the weights; their number was given",
        "chosen": "found in the weights, as many as give the largest modularity",
    }
    live = "activity" if report.by_activity else "weights alone"
    return (
        f"{report.name}: {number_of(len(report.weights), 'layer')} of weights{kernels}, {units} units; "
        f"{number_of(report.modules, 'module')} ({ways[report.source]}); live units told by {live}"
    )


def whole_net(report: ModularityReport) -> Iterator[tuple[str, str]]:
    """What was measured of the net as a whole: a name and a sentence each."""
    newman = report.newman
    yield (
        "Newman modularity",
        f"{fixed(newman.value, 2)} of at most {fixed(newman.largest, 2)}; shuffled weights: {_null(newman.searched)} "
        f"with modules of their own, {_null(newman.kept)} with these",
    )
    done = report.behaviour
    if done is None:
        return
    if done.error is not None and done.pruned is not None and done.constant is not None:
        times = "" if done.ratio is None else f", {number(done.ratio)} times as large"
        yield (
            "error",
            f"{number(done.error)}; with everything between modules cut {number(done.pruned)}{times} "
            f"(a constant answer has {number(done.constant)})",
        )
    if done.jacobian_ratio is not None:
        yield (
            "derivatives",
            f"an output depends on inputs of other modules {number(done.jacobian_ratio)} times as much as on those of "
            "its own (0: not at all)",
        )


def _null(null: Null) -> str:
    z = "undefined" if np.isnan(null.z) else number(null.z)
    return f"{fixed(null.mean, 2)} ± {fixed(null.std, 2)} (z {z})"
