"""The report as a page for someone who has not read the paper."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from recombine._version import __version__
from recombine.modularity.phrases import place_names
from recombine.modularity.pictures import MOST_LAYERS, report_figure
from recombine.modularity.result import ModularityReport
from recombine.modularity.tables import layer_table, module_table
from recombine.modularity.verdict import LEAST_Z, MIXED, MODULAR
from recombine.modularity.words import heading, whole_net
from recombine.report import Column, Details, Page, Picture, Row, Section, Table, fixed, percent
from recombine.report.weight_maps import MOST_CELLS


def page(report: ModularityReport) -> Page:
    """The report as a page."""
    lead = (
        f"{report.verdict} A module is a group of units, from inputs to outputs, that are connected with each other "
        "and not with the rest: a net made of modules computes independent parts independently, so that a new "
        "combination of familiar parts is nothing new to any of them."
    )
    sections = [
        Section("The weights, sorted by module", [_picture(report)]),
        Section("Layer by layer", [*_how_to_read(report), layer_table(report), *_spectra(report)]),
        Section("The modules", [f"{heading(report)}.", module_table(report)]),
        Section(
            "The whole net", [*(f"**{name}**: {words}" for name, words in whole_net(report)), *_nulls(report)]
        ),
    ]
    if report.warnings:
        rows = [Row([found.code, found.message]) for found in report.warnings]
        sections.append(Section("Keep in mind", [Table([Column("code"), Column("what")], rows)]))
    made = {"version": __version__, "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
    made["method"] = "after Qian, Liang and Fiete 2025, arXiv 2512.13707"
    return Page(f"Modularity of {report.name}", lead, sections, made)


def _picture(report: ModularityReport) -> Picture:
    layers = len(report.weights)
    few = f" The first {MOST_LAYERS} of {layers} layers are shown." if layers > MOST_LAYERS else ""
    many = max(int(mask.sum()) for mask in report.live) > MOST_CELLS
    pooled = " Where units are many, a square stands for several units of one module." if many else ""
    dead = any(not mask.all() for mask in report.live)
    gone = " Dead units are left out." if dead else ""
    caption = (
        "Each map is one layer of weights: a row for every unit that sends, a column for every unit that receives, and "
        "the darker the square, the stronger the connection. Units are sorted by module, whose numbers stand beside "
        "and below; frames mark connections within a module. In a modular net, there is nothing outside the frames."
        f"{gone}{pooled}{few}"
    )
    return Picture(
        "weights", report_figure(report), caption, "Weight maps of all layers, sorted by module", "image"
    )


def _how_to_read(report: ModularityReport) -> list[str]:
    even = percent(1 / report.modules)
    return [
        "**Share** is the part of a layer's squared weight that joins units of one module; **chance** is what equal "
        "weights would give; the **score** is 0 at chance and 1 if nothing leaves the modules. A net counts as modular "
        f"if every score is at least {fixed(MODULAR, 2)}, as partly modular from {fixed(MIXED, 2)} on, and as mixed "
        "below; the first two only if shuffled weights do not do as well (z, see below, of at least "
        f"{fixed(LEAST_Z, 0)}).",
        "**Live units** are those behind the layer that take part. **Purity** is the largest share that one module's "
        f"inputs have in a unit, over all paths of weights: 1 if no other module reaches it, {even} if all do evenly.",
    ]


def _spectra(report: ModularityReport) -> list[Any]:
    if report.collapsed is None or report.raw is None:
        return []
    k = report.modules
    words = (
        f"**λ{k}** is an eigenvalue of a graph that joins units of a layer by how alike their incoming weights are: it "
        f"is near 0 if the units fall into {k} groups that read different things, and near 1 if they do not. For the "
        "collapsed version incoming weights are first summed by module. Then every later eigenvalue is 1 for any "
        f"weights, so that a gap behind λ{k} says nothing; only the size of λ{k} does."
    )
    names = place_names(len(report.live))
    numbers = range(report.collapsed.shape[1])
    tables = [
        Table(
            [Column("layer"), *(Column(f"λ{i + 1}", "right") for i in numbers)],
            [
                Row([names[layer + 1], *(fixed(v, 2) if v == v else "–" for v in values.tolist())])
                for layer, values in enumerate(spectra)
            ],
            caption,
        )
        for caption, spectra in (("Collapsed", report.collapsed), ("Raw", report.raw))
    ]
    return [words, Details(f"Eigenvalues λ1 to λ{k + 2} of every layer", tables)]


def _nulls(report: ModularityReport) -> list[str]:
    newman = report.newman
    words = [
        "Newman modularity is the weight within modules, less what units as strongly connected would have there by "
        "chance. Who looks for modules finds some in any weights. So the net is held against "
        f"{newman.searched.shuffles} nets with the same weights in random places, in which modules were looked for in "
        "the same way; z counts their standard deviations. With the net's own modules kept, shuffled nets have next to "
        "none, and z is larger than is fair."
    ]
    if report.behaviour is not None and report.behaviour.error is not None:
        words.append(
            "The sharpest test is to set all weights between modules to zero and run the net again: if the error stays "
            "low, the modules are nets of their own (in Python: `report.extract()`)."
        )
    return words
