"""What a modularity report says, as one document for the terminal, pages and notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recombine.modularity.nulls import Null
from recombine.modularity.verdict import MIN_Z, MIXED, MODULAR
from recombine.report import (
    Block,
    Column,
    Details,
    Document,
    Fact,
    Facts,
    Only,
    Picture,
    Row,
    Section,
    Table,
    count,
    fixed,
    number,
    number_ranges,
    page_footer,
    percent,
)
from recombine.report.figures.weight_maps import MAX_CELLS, MAX_LAYERS, unit_layer_names, weight_maps

if TYPE_CHECKING:
    from recombine.modularity.result import ModularityReport
    from recombine.report.figures.style import Figure

MAX_MODULES = 12
"""Modules that are listed; `to_dict` has the others, too."""


def document(report: ModularityReport) -> Document:
    """The whole report; the terminal leaves out explanations and the picture."""
    sections = [
        Section("", [f"{_heading(report)}.", Only("page", [_WHAT_MODULES_ARE])]),
        Section("The weights, sorted by module", [_picture(report)], where="page"),
        Section(
            "Layers",
            [
                Only("page", _how_to_read(report)),
                _layer_table(report),
                Only("page", list(_spectra(report))),
            ],
        ),
        Section("Modules", [_module_table(report)]),
        Section("Whole net", [Facts(list(_whole_net(report))), Only("page", list(_about_nulls(report)))]),
    ]
    if report.warnings:
        pitfalls = [Fact(pitfall.code, pitfall.message) for pitfall in report.warnings]
        sections.append(Section("Keep in mind", [Facts(pitfalls)]))
    footer = page_footer(method="after Qian, Liang and Fiete 2025, arXiv 2512.13707")
    return Document(f"Modularity of {report.name}", str(report.verdict), sections, footer)


def report_figure(report: ModularityReport) -> Figure:
    """The weight maps of a report, with the share of weight within modules above each."""
    titles = [f"layer {layer + 1}: {percent(mass)} within" for layer, mass in enumerate(report.mass)]
    title = {
        "modular": f"Weights stay within {report.modules} modules",
        "partly modular": f"Most weights stay within {report.modules} modules, some join them",
        "mixed": "Weights join units of different modules",
        "undecided": f"Weights within {report.modules} modules, which may be there by chance",
    }
    return weight_maps(report.weights, report.labels, titles=titles, title=title[report.verdict.word])


_WHAT_MODULES_ARE = (
    "A module is a group of units, from inputs to outputs, that are connected with each other but not with the rest. "
    "A net made of modules computes independent parts independently, so a new combination of familiar parts is not new "
    "to any module."
)


def _heading(report: ModularityReport) -> str:
    """The size of the net, and where the modules come from."""
    units = "-".join(str(len(mask)) for mask in report.live)
    kernels = ""
    if report.convolutions:
        kernels = f" ({count(report.convolutions, 'convolution')}, counted by channels)"
    source = {
        "inputs": "given by the inputs",
        "number": "found in the weights; their number was given",
        "chosen": "found in the weights, as many as give the largest modularity",
    }[report.source]
    if report.source == "chosen" and report.is_disconnected:
        source = "the parts of the net that are not connected"
    live = "activity" if report.by_activity else "weights alone"
    return (
        f"{report.name}: {count(len(report.weights), 'layer')} of weights{kernels}, {units} units; "
        f"{count(report.modules, 'module')} ({source}); live units determined by {live}"
    )


def _picture(report: ModularityReport) -> Picture:
    layers = len(report.weights)
    caption = [
        "Each map is one layer of weights: a row for every sending unit, a column for every receiving unit; the darker "
        "the square, the stronger the connection. Units are sorted by module, whose numbers are on the axes; frames "
        "mark connections within a module. In a modular net, everything outside the frames is empty."
    ]
    if any(not mask.all() for mask in report.live):
        caption.append("Dead units are left out.")
    if max(int(mask.sum()) for mask in report.live) > MAX_CELLS:
        caption.append("In large layers, a square stands for several units of one module.")
    if layers > MAX_LAYERS:
        caption.append(f"The first {MAX_LAYERS} of {layers} layers are shown.")
    return Picture(
        "weights",
        partial(report_figure, report),
        " ".join(caption),
        "Weight maps of all layers, sorted by module",
        "image",
    )


def _how_to_read(report: ModularityReport) -> list[Block]:
    even = fixed(1 / report.modules, 2)
    return [
        "**Share** is the part of a layer's squared weight that joins units of one module; **chance** is what equal "
        "weights would give; the **score** is 0 at chance and 1 if nothing leaves the modules. A net counts as modular "
        f"if every score is at least {fixed(MODULAR, 2)}, as partly modular from {fixed(MIXED, 2)} on, and as mixed "
        f"below. The first two need a Newman modularity at least {fixed(MIN_Z, 0)} standard deviations above that of "
        "shuffled weights (z, see below), or modules without any connection between them.",
        "**Live units** are those behind the layer that take part in the computation. **Purity** is the largest share "
        f"that one module's inputs have in a unit, over all paths of weights: 1 if no other module reaches it, {even} "
        "if all do evenly.",
    ]


def _layer_table(report: ModularityReport) -> Table:
    """A row for every layer of weights; live units are those behind it."""
    names = unit_layer_names(len(report.live))
    last = f"λ{report.modules}"
    columns = [
        Column("layer"),
        Column("live units", "right"),
        Column("share", "right", "squared weight within modules"),
        Column("chance", "right", "squared weight within modules"),
        Column("score", "right", "squared weight within modules"),
        Column("purity", "right"),
    ]
    spectra = [] if report.collapsed is None or report.raw is None else [report.collapsed, report.raw]
    if spectra:
        columns += [Column("collapsed", "right", last), Column("raw", "right", last)]
    rows = [
        Row(
            [
                f"{layer + 1}  {names[layer]} → {names[layer + 1]}",
                f"{report.live[layer + 1].sum()} of {len(report.live[layer + 1])}",
                percent(report.mass[layer]),
                percent(report.chance[layer]),
                _two_decimals(report.score[layer]),
                _two_decimals(report.purity[layer]),
                *(_two_decimals(values[layer, report.modules - 1]) for values in spectra),
            ]
        )
        for layer in range(len(report.weights))
    ]
    return Table(columns, rows)


def _spectra(report: ModularityReport) -> Iterator[Block]:
    if report.collapsed is None or report.raw is None:
        return
    k = report.modules
    yield (
        f"**λ{k}** is an eigenvalue of a graph that joins units of a layer whose incoming weights are similar: it is "
        f"near 0 if the units fall into {k} groups with different inputs, and near 1 if they do not. For the collapsed "
        "version, incoming weights are first summed by module. Then every later eigenvalue is 1 for any weights, so a "
        f"gap after λ{k} means nothing; only the size of λ{k} does."
    )
    names = unit_layer_names(len(report.live))
    tables = [
        Table(
            [Column("layer"), *(Column(f"λ{i + 1}", "right") for i in range(spectra.shape[1]))],
            [
                Row([names[layer + 1], *(_two_decimals(value) for value in values)])
                for layer, values in enumerate(spectra)
            ],
            caption,
        )
        for caption, spectra in (("Collapsed", report.collapsed), ("Raw", report.raw))
    ]
    yield Details(f"Eigenvalues λ1 to λ{k + 2} of every layer", tables)


def _module_table(report: ModularityReport) -> Table:
    """A row for every module: its inputs, its live units in every hidden layer, and its outputs."""
    columns = [Column("module"), Column("inputs"), Column("hidden units"), Column("outputs")]
    rows = []
    for module in range(min(report.modules, MAX_MODULES)):
        inputs, outputs = (np.flatnonzero(report.labels[end] == module) for end in (0, -1))
        hidden = " + ".join(str(size) for size in report.sizes[1:-1, module])
        rows.append(Row([str(module), _units(inputs), hidden or "none", _units(outputs)]))
    left = report.modules - len(rows)
    return Table(columns, rows, f"The first {MAX_MODULES} modules; {left} more." if left else "")


def _units(units: np.ndarray) -> str:
    return number_ranges(units.tolist()) or "none"


def _whole_net(report: ModularityReport) -> Iterator[Fact]:
    newman = report.newman
    yield Fact(
        "Newman modularity",
        f"{fixed(newman.value, 2)} of at most {fixed(newman.largest, 2)}; shuffled weights have "
        f"{_null(newman.searched)} with their own modules, {_null(newman.kept)} with these",
    )
    test = report.separability
    if test is None:
        return
    if test.error is not None and test.pruned is not None and test.constant is not None:
        times = "" if test.ratio is None else f", {number(test.ratio)} times as large"
        yield Fact(
            "error",
            f"{number(test.error)}; without connections between modules {number(test.pruned)}{times} "
            f"(a constant prediction has {number(test.constant)})",
        )
    if test.jacobian_ratio is not None:
        yield Fact(
            "derivatives",
            f"an output depends on inputs of other modules {number(test.jacobian_ratio)} times as much as on inputs of "
            "its own (0: not at all)",
        )


def _about_nulls(report: ModularityReport) -> Iterator[Block]:
    yield (
        "Newman modularity is the weight within modules, minus what equally strong units would have there by chance. "
        "Clustering finds modules in any weight matrix. The net is therefore compared with "
        f"{report.newman.searched.shuffles} nets that have the same weights in random places, in which modules were "
        "found in the same way; z is its distance from them in standard deviations. The second z keeps the net's own "
        "modules, which fit no shuffled net, so that z flatters the net."
    )
    if report.separability is not None and report.separability.error is not None:
        yield (
            "The strictest test is to set all weights between modules to zero and run the net again: if the error "
            "stays low, the modules are separate nets (in Python: `report.extract()`)."
        )


def _null(null: Null) -> str:
    z = "undefined" if np.isnan(null.z) else number(null.z)
    return f"{fixed(null.mean, 2)} ± {fixed(null.std, 2)} (z {z})"


def _two_decimals(value: float) -> str:
    return fixed(float(value), 2) if np.isfinite(value) else "–"
