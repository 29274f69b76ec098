"""Further: the sizes of the image and of the hole, and a larger canvas."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recombine.nets import cnn_decoder
from recombine.parts import Part
from recombine.probes import decoders
from recombine.report import PAGE_WIDTH, heat_table, new_figure, number, percent
from recombine.studies.claim import Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.forced_rendering.decoder_figures import median
from recombine.studies.forced_rendering.decoder_setup import BEHAVIOUR, CODES, ENCODINGS, Setup
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import described
from recombine.studies.study import Drawing, StudySection
from recombine.tasks import bumps_on_canvas, bumps_real
from recombine.training import Recipe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = tuple((n, p) for n in (24, 28, 32, 36, 40) for p in (0.2, 0.3, 0.4, 0.5, 0.6))
"""Sides of the image, and of the hole as a share of it."""
CANVASES = {"bump": (80, 64, 20, 1000), "ramp": (2, 128, 30, 3000)}
"""Inputs, channels and epochs as published, and steps at scale quick, of the nets on a larger canvas."""


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """Bumps on a larger canvas, cropped (the authors' "stripe augmentation"), and every size of image and hole."""
    setup = Setup(scale)
    plans = {}
    for code, (inputs, width, epochs, steps) in CANVASES.items():
        task = Part(bumps_on_canvas, encoding=ENCODINGS[code], train=setup.pick(64, 2000, 2000))
        net = Part(cnn_decoder, inputs=inputs, width=setup.pick(4, 32, width), depth=setup.pick(2, 4, 8))
        plans[f"canvas {code}"] = setup.plan(task, net, setup.recipe(steps, epochs), BEHAVIOUR, seeds=(6, 6))
    for code, epochs, steps in (("bump", 20, 800), ("ramp", 50, 2400)):
        for n, p in setup.some(SIZES):
            hidden = int(p * n)
            seen, unseen = 1000 * (n - hidden) ** 2 // n**2, 1000 * hidden**2 // n**2
            task = Part(bumps_real, n=n, p=p, train=seen, test_out=unseen, encoding=ENCODINGS[code])
            net = Part(
                cnn_decoder,
                inputs=2 * n if code == "bump" else 2,
                width=setup.pick(4, 16, 128),
                depth=setup.pick(2, 3, 8),
                size=n,
                start=setup.pick(6, n // 4, 7),
            )
            recipe = Recipe(**setup.pick({"steps": 1}, {"steps": steps}, {"epochs": epochs}))
            plans[size_arm(code, n, p)] = setup.plan(
                task, net, recipe, (Part(decoders.errors),), seeds=(6, 6)
            )
    return setup.distinct(plans)


def size_arm(code: str, n: int, p: float) -> str:
    """The arm with images of `n` pixels and a hole of side `p n`."""
    return f"size {n} hole {p}, {code}"


def _larger_canvas(evidence: Evidence) -> PerSeed:
    bump, ramp = (evidence[f"canvas {code}"] for code in CODES)
    return PerSeed(
        bump.share_of_blank("out"),
        supports={
            "bump: seen error / blank": bump.share_of_blank("in"),
            "ramp: unseen error / blank": ramp.share_of_blank("out"),
            "ramp: seen error / blank": ramp.share_of_blank("in"),
        },
    )


def _sizes(evidence: Evidence, *, code: str) -> PerSeed:
    arms = [evidence[size_arm(code, n, p)] for n, p in SIZES]
    unseen = np.stack([arm.share_of_blank("out") for arm in arms])
    seen = np.stack([arm.share_of_blank("in") for arm in arms])
    return PerSeed(
        np.median(unseen, axis=0),
        supports={
            "lowest": unseen.min(axis=0),
            "highest": unseen.max(axis=0),
            "median seen error / blank": np.median(seen, axis=0),
        },
    )


CLAIMS = (
    Claim(
        "28",
        "how an enlarged canvas, without stripes, changes the error in the hole",
        "authors' code",
        described("unseen error / blank, bump code"),
        ("canvas bump", "canvas ramp"),
        _larger_canvas,
        on_request=True,
        minutes=20,
        reduced="32 channels and 4 blocks (published: 64 or 128 channels, 8 blocks)",
        finding="The authors' scripts call this stripe augmentation, but they contain no stripes.",
    ),
    *(
        Claim(
            id,
            f"how the unseen error depends on the sizes of image and hole, {code} code",
            "authors' code",
            described("median over sizes of unseen error / blank"),
            tuple(size_arm(code, n, p) for n, p in SIZES),
            partial(_sizes, code=code),
            on_request=True,
            minutes=minutes,
            reduced="16 channels and 3 blocks (published: 128 and 8)",
        )
        for id, code, minutes in (("29", "bump", 50), ("40", "ramp", 140))
    ),
)


def _size_tables(evidence: Evidence) -> Figure:
    codes = [code for code in CODES if size_arm(code, *SIZES[0]) in evidence]
    figure, panels = new_figure(len(codes), width=5.0 if len(codes) == 1 else PAGE_WIDTH, aspect=0.75)
    for ax, code in zip(panels[0], codes, strict=True):
        run = [(n, p) for n, p in SIZES if size_arm(code, n, p) in evidence]
        sizes, holes = sorted({n for n, _ in run}), sorted({p for _, p in run})
        table = np.full((len(holes), len(sizes)), np.nan)
        for n, p in run:
            arm = evidence[size_arm(code, n, p)]
            table[holes.index(p), sizes.index(n)] = median(arm.share_of_blank("out"))
        lines = [level for level in (0.25, 0.5, 1.0) if np.nanmin(table) < level < np.nanmax(table)]
        low, high = number(np.nanmin(table)), number(np.nanmax(table))
        heat_table(
            ax,
            table,
            [percent(p) for p in holes],
            [str(n) for n in sizes],
            row_label="side of the hole, share of N",
            column_label="image size N",
            contours=lines if min(table.shape) > 1 else (),
            title=f"{code.capitalize()} code: unseen error is {low} to {high} of a blank image's",
            label="unseen error / blank image's",
        )
    return figure


SECTION = StudySection(
    "Further: sizes of canvas, image and hole",
    arms=arms,
    claims=CLAIMS,
    drawings=(
        Drawing(
            "further-sizes",
            "Further. Unseen error by size of the image and of the hole.",
            "Error on unseen positions relative to a blank image's, so that image sizes can be compared; "
            "median over seeds. Lines connect equal values.",
            (size_arm("bump", *SIZES[0]),),
            _size_tables,
        ),
    ),
)
