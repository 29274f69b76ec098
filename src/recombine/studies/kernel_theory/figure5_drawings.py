"""Drawings of Figure 5: networks on images, with the published values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import BASELINE, blank_figure, colours, look, sentence
from recombine.studies.evidence import Evidence
from recombine.studies.kernel_theory import published
from recombine.studies.kernel_theory.conjunction_shares import kind_shares
from recombine.studies.kernel_theory.image_readers import (
    FAR,
    MIDDLE,
    NEAR,
    READERS,
    context_task,
    equivalence_task,
    image_arm,
    readers,
    similarity_arm,
)
from recombine.studies.kernel_theory.panels import points, worth_panels
from recombine.studies.kernel_theory.predictions import KINDS
from recombine.studies.kernel_theory.symbol_networks import HIDDEN, PARTNERS
from recombine.studies.study import Drawing
from recombine.tasks.symbolic import ANCHORS
from recombine.theory import addition_slope

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DISTANCE = "distance / width of an image"
OURS = "#0072B2"


def slopes_of(evidence: Evidence, anchors: str, distance: str, reader: str = "ConvNet") -> np.ndarray:
    """The slope of predictions on unseen sums, `(seeds,)`."""
    return evidence[image_arm(reader, f"addition {anchors}", distance)]["slope"]


def predicted_slopes(evidence: Evidence, anchors: str, distance: str, name: str = "salience") -> np.ndarray:
    """The slope that the salience of every untrained net predicts, `(seeds,)`."""
    salience = evidence[similarity_arm(distance)][name][:, 0]
    return np.array([addition_slope(float(s), PARTNERS[anchors]) for s in np.clip(salience, 0, 0.5)])


def _over_distance(ax: Any, evidence: Evidence, task: str, value: str, known: Sequence[float]) -> None:
    """Seeds and their median at every distance that was run, with published means."""
    reader = readers(evidence.scale)["ConvNet"]
    run = {d: p for d, p in reader.distances.items() if image_arm("ConvNet", task, d) in evidence}
    positions = [pixels / reader.side for pixels in run.values()]
    seeds = [evidence[image_arm("ConvNet", task, distance)][value] for distance in run]
    for position, values in zip(positions, seeds, strict=True):
        ax.plot(np.full(len(values), position), values, "o", color=OURS, markersize=3, alpha=0.6)
    ax.plot(positions, [np.median(values) for values in seeds], color=OURS, label="ours")
    ax.plot(
        np.array(published.IMAGE_DISTANCES) / 28,
        known,
        "s--",
        color=BASELINE,
        markersize=3,
        label="published",
    )
    ax.set_xlabel(DISTANCE)


def _draw_slopes(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.7)
        panels = figure.subplots(1, 4, sharey=True)
        for ax, anchors in zip(panels, ANCHORS, strict=True):
            _over_distance(ax, evidence, f"addition {anchors}", "slope", published.IMAGE_SLOPES[anchors])
            sentence(ax, anchors)
            ax.set_ylim(0.2, 1)
            ax.set_xlabel(f"distance / width (p = {PARTNERS[anchors]})")
        panels[0].set_ylabel("slope on unseen sums")
        panels[0].legend(loc="lower right")
    return figure


def _draw_worth(evidence: Evidence) -> Figure:
    rows = {
        distance: {a: evidence[image_arm("ConvNet", f"addition {a}", distance)] for a in ANCHORS}
        for distance in (NEAR, FAR)
    }
    known = {
        d: {a: values[i] for a, values in published.IMAGE_SLOPES.items()} for d, i in ((NEAR, 0), (FAR, 4))
    }
    return worth_panels(rows, [OURS, OURS], known)


def _draw_context(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.6)
        panels = figure.subplots(1, 3, sharey=True)
        for ax, hidden in zip(panels, HIDDEN, strict=True):
            _over_distance(ax, evidence, context_task(hidden), "right_out", published.IMAGE_CONTEXT[hidden])
            ax.axhline(0.5, color=BASELINE, linewidth=0.6)
            ax.set_ylim(0, 1.03)
            sentence(ax, f"CD-{hidden}")
        panels[0].set_ylabel("right on unseen cells")
        panels[0].legend(loc="lower left")
    return figure


def _draw_shares(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.6)
        panels = figure.subplots(1, 3, sharey=True)
        positions, known = np.arange(len(KINDS)), published.IMAGE_SHARES["ConvNet"]
        for column, (ax, hidden) in enumerate(zip(panels, HIDDEN, strict=True)):
            arm = evidence[image_arm("ConvNet", context_task(hidden), FAR)]
            shares = np.median(kind_shares(arm, hidden), axis=0)
            ax.bar(positions, shares, color="#56B4E9", label="ours, far apart")
            marked = [KINDS.index(kind) for kind in known]
            ax.plot(marked, [values[column] for values in known.values()], "s", color="#1A1A1A", markersize=4)
            ax.set_xticks(positions, KINDS, rotation=45, ha="right")
            sentence(ax, f"CD-{hidden}")
        panels[0].set_ylabel("share of coefficients")
    return figure


def _draw_salience(evidence: Evidence) -> Figure:
    reader = readers(evidence.scale)["ConvNet"]
    run = [distance for distance in reader.distances if similarity_arm(distance) in evidence]
    positions = [reader.distances[distance] / reader.side for distance in run]
    with look():
        figure = blank_figure(height=2.8)
        left, right = figure.subplots(1, 2)
        for name, ink in (("salience", OURS), ("salience_self", BASELINE)):
            seeds = [evidence[similarity_arm(distance)][name][:, 0] for distance in run]
            for position, values in zip(positions, seeds, strict=True):
                left.plot(np.full(len(values), position), values, "o", color=ink, markersize=3, alpha=0.6)
            label = "different images" if name == "salience" else "with self pairs (as published)"
            left.plot(positions, [np.median(values) for values in seeds], color=ink, label=label)
        left.set_xlabel(DISTANCE)
        left.set_ylabel("S(1;2), fourth convolution")
        left.legend()
        sentence(left, "Before training")
        inks = colours(["extrapolation", "interpolation"])
        for anchors, ink in inks.items():
            pairs = [
                (
                    np.median(predicted_slopes(evidence, anchors, d)),
                    np.median(slopes_of(evidence, anchors, d)),
                )
                for d in run
                if image_arm("ConvNet", f"addition {anchors}", d) in evidence
            ]
            right.plot(*zip(*pairs, strict=True), "o-", color=ink, markersize=4, label=anchors)
        right.plot([0, 1], [0, 1], color=BASELINE, linewidth=0.8)
        right.set(
            xlim=(0.2, 1), ylim=(0.2, 1), xlabel="slope predicted from S(1;2)", ylabel="slope after training"
        )
        right.legend(loc="upper left")
        sentence(right, "Does the slope law hold?")
    return figure


def _draw_equivalence(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.6, width=5.2)
        panels = figure.subplots(1, 2, sharey=True)
        names = (("new images", "right_fresh"), ("unseen pairs", "right_out"))
        for ax, (name, value) in zip(panels, names, strict=True):
            _over_distance(ax, evidence, equivalence_task(4), value, published.IMAGE_EQUIVALENCE[name])
            ax.axhline(0.5, color=BASELINE, linewidth=0.6)
            sentence(ax, name)
        panels[0].set_ylabel("right")
        panels[0].legend(loc="lower right")
    return figure


def _draw_readers(evidence: Evidence) -> Figure:
    series = {
        anchors: [evidence[image_arm(r, f"addition {anchors}", NEAR)]["slope"] for r in READERS]
        for anchors in ("extrapolation", "interpolation")
    }
    figure = points(series, list(READERS), "slope on unseen sums")
    ax, inks = figure.axes[0], colours(list(series))
    for position, reader in enumerate(READERS):
        for anchors, value in published.READER_SLOPES[reader].items():
            ax.plot(position, value, "_", color=inks[anchors], markersize=16, markeredgewidth=1.5)
    ax.set_xlabel("dashes: published (ResNet and ViT on CIFAR-10)")
    return figure


def _draw_reader_context(evidence: Evidence) -> Figure:
    series = {
        f"CD-{h}": [evidence[image_arm(r, context_task(h), NEAR)]["right_out"] for r in READERS]
        for h in HIDDEN[:2]
    }
    figure = points(series, list(READERS), "right on unseen cells")
    ax, inks = figure.axes[0], colours(list(series))
    for position, reader in enumerate(READERS):
        for hidden, value in zip(HIDDEN[:2], published.READER_CONTEXT[reader][:2], strict=True):
            ax.plot(position, value, "_", color=inks[f"CD-{hidden}"], markersize=16, markeredgewidth=1.5)
    ax.axhline(0.5, color=BASELINE, linewidth=0.6)
    ax.set_xlabel("dashes: published (ResNet and ViT on CIFAR-10)")
    return figure


DRAWINGS = (
    Drawing(
        "image-slopes",
        "Predicted sums of digit images shrink less when the images are apart and when each was seen with two "
        "partners.",
        "Slope of a ConvNet's predictions on unseen pairs of digits, by the distance between the two images. p: "
        "training partners of every number. Points are seeds. Published: MNIST and a net of four times the filters.",
        tuple(image_arm("ConvNet", f"addition {a}", d) for a in ANCHORS for d in (NEAR, FAR)),
        _draw_slopes,
    ),
    Drawing(
        "image-worth",
        "The contribution of each digit image to the ConvNet's predictions.",
        "On unseen sums, against its true value, with superimposed (near) and separate (far) images. All seeds, both "
        "positions. The grey line is the target.",
        tuple(image_arm("ConvNet", f"addition {a}", d) for a in ANCHORS for d in (NEAR, FAR)),
        _draw_worth,
    ),
    Drawing(
        "image-context",
        "Moving images apart helps CD-2 and CD-1, and makes the shortcut in CD-3 worse.",
        "Share of new images of unseen cells that the ConvNet gets right, cross-entropy. The thin line is chance.",
        tuple(image_arm("ConvNet", context_task(h), d) for h in HIDDEN for d in (NEAR, FAR)),
        _draw_context,
    ),
    Drawing(
        "image-shares",
        "In CD-3 the ConvNet predicts from the context alone.",
        "Share of five kinds of conjunctions in its predictions, images far apart. Squares: published for two kinds.",
        tuple(image_arm("ConvNet", context_task(h), FAR) for h in HIDDEN),
        _draw_shares,
    ),
    Drawing(
        "image-salience",
        "Images that are apart are more salient, and predictions shrink less.",
        "Left: salience of single images in an untrained ConvNet, with and without comparing an image with itself. "
        "Right: the slope that the kernel theory predicts from it, and the slope of trained nets, for all "
        "distances; on the grey line the theory is exact.",
        (
            *(similarity_arm(d) for d in (NEAR, MIDDLE, FAR)),
            *(
                image_arm("ConvNet", f"addition {a}", d)
                for a in ("extrapolation", "interpolation")
                for d in (NEAR, FAR)
            ),
        ),
        _draw_salience,
    ),
    Drawing(
        "image-equivalence",
        "Transitive equivalence with images.",
        "Ten digits in two classes; four of each five are hubs. Accuracy on new images of trained pairs and "
        "on pairs that were not trained. The thin line is chance.",
        tuple(image_arm("ConvNet", equivalence_task(4), d) for d in (NEAR, FAR)),
        _draw_equivalence,
    ),
    Drawing(
        "reader-slopes",
        "Other networks shrink sums of images as well.",
        "Slopes of three networks, superimposed images.",
        tuple(
            image_arm(r, f"addition {a}", NEAR) for r in READERS for a in ("extrapolation", "interpolation")
        ),
        _draw_readers,
    ),
    Drawing(
        "reader-context",
        "Other networks fail CD-3 as well.",
        "Accuracy on new images of unseen cells, superimposed images. The thin line is chance.",
        tuple(image_arm(r, context_task(h), NEAR) for r in READERS for h in HIDDEN[:2]),
        _draw_reader_context,
    ),
)
