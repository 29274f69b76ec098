"""Further: decoders that work on every pixel by itself, which is another way to render factors separately."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from recombine.nets import pixel_transformer, spatial_mlp
from recombine.parts import Part
from recombine.probes import decoders
from recombine.report import number, percent
from recombine.spaces import centre_hole, corner_hole
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.forced_rendering.decoder_figures import cells_figure, median
from recombine.studies.forced_rendering.decoder_setup import BEHAVIOUR, PUBLISHED_HOLE, Setup
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import described, ratio
from recombine.studies.study import Drawing, StudySection
from recombine.tasks import bumps, one_hot
from recombine.training import Recipe, adamw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPATIAL_DEPTHS = (2, 4)
TRANSFORMER_DEPTHS = (2, 3, 4, 5)
SHOWN_IN_CORNER = ((16, 16), (20, 18), (24, 22), (18, 26))
SHOWN_IN_HOLE = ((14, 14), (12, 16), (8, 14), (14, 20))
SPATIAL_REDUCED = "128 units and 300 epochs (published: 256 and 2000)"
SMALL = "14 × 14 images and narrower feed-forward layers (published: 28 × 28)"


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """The per-pixel MLP of both depths, and pixel transformers of every published depth."""
    setup = Setup(scale)
    plans = {}
    task = Part(bumps, hole=Part(corner_hole, low=14), encoding=Part(one_hot), polarity="bright")
    for depth in SPATIAL_DEPTHS:
        length = setup.pick({"steps": 1}, {"epochs": 300}, {"epochs": 2000})
        plans[spatial_arm(depth)] = setup.plan(
            task,
            Part(spatial_mlp, inputs=56, depth=depth, width=setup.pick(8, 128, 256)),
            Recipe(**length, optimiser=adamw(weight_decay=1e-4)),
            (*BEHAVIOUR, Part(decoders.output_images, cells=SHOWN_IN_CORNER)),
            seeds=(6, 6),
        )
    small = {"low": 3, "high": 11}
    n = setup.pick(14, 14, 28)
    hole = Part(centre_hole, **setup.pick(small, small, PUBLISHED_HOLE))
    task = Part(bumps, n=n, hole=hole, train=setup.pick(None, None, 2000))
    cells = setup.pick(((7, 7), (5, 8)), ((7, 7), (5, 8)), SHOWN_IN_HOLE)
    for depth in setup.some(TRANSFORMER_DEPTHS):
        length = setup.pick({"steps": 1}, {"steps": 3000}, {"epochs": 20})
        net = Part(pixel_transformer, inputs=2 * n, depth=depth, size=n, hidden=setup.pick(16, 256, 2048))
        shown = Part(decoders.output_images, cells=cells)
        plans[transformer_arm(depth)] = setup.plan(
            task, net, Recipe(**length), (*BEHAVIOUR, shown), seeds=(6, 6)
        )
    return setup.distinct(plans)


def spatial_arm(depth: int) -> str:
    """The arm of the per-pixel MLP with that many hidden layers."""
    return "spatial mlp" if depth == 2 else f"spatial mlp depth {depth}"


def transformer_arm(depth: int) -> str:
    """The arm of the pixel transformer with that many layers."""
    return "transformer" if depth == 2 else f"transformer depth {depth}"


def _per_pixel(evidence: Evidence, *, depth: int) -> PerSeed:
    arm = evidence[spatial_arm(depth)]
    return PerSeed(
        arm.share_of_blank("out"),
        supports={
            "seen error / blank": arm.share_of_blank("in"),
            "in the right place ± 1": arm["accuracy1_out"],
        },
    )


PER_PIXEL_AMENDMENT = Amendment(
    "unseen error at most 6e-4 at scale quick, 1e-4 at scale paper",
    "unseen error relative to blank (3.7e-3), with 6e-4 as the bound at both scales",
    "a claim has one bound",
)


def _transformer(evidence: Evidence) -> PerSeed:
    arm = evidence["transformer"]
    supports = {
        "seen error / blank": arm.share_of_blank("in"),
        "in the right place ± 1, unseen": arm["accuracy1_out"],
    }
    for name in ("spatial mlp", "cnn bump"):
        if name in evidence:
            supports[f"{name}: unseen error / blank"] = evidence[name].share_of_blank("out")
    return PerSeed(arm.share_of_blank("out"), supports=supports)


def _deeper_transformers(evidence: Evidence) -> PerSeed:
    supports = {}
    for depth in TRANSFORMER_DEPTHS[1:]:
        arm = evidence[transformer_arm(depth)]
        supports[f"{depth} layers: unseen error / blank"] = arm.share_of_blank("out")
        supports[f"{depth} layers: seen error / blank"] = arm.share_of_blank("in")
    return PerSeed(evidence[transformer_arm(TRANSFORMER_DEPTHS[1])].share_of_blank("out"), supports=supports)


CLAIMS = (
    Claim(
        "17",
        "a net that computes every pixel from the code and the pixel's position composes without any penalty",
        "authors' weights",
        ratio("unseen error / blank", "below", published=0.0105, magnitude=0.16),
        ("spatial mlp",),
        partial(_per_pixel, depth=2),
        on_request=True,
        minutes=25,
        reversal="it failed on unseen combinations as CNNs and MLPs do",
        reduced=SPATIAL_REDUCED,
        amendments=(PER_PIXEL_AMENDMENT,),
    ),
    Claim(
        "36",
        "the per-pixel net composes with four hidden layers too",
        "authors' weights",
        ratio("unseen error / blank", "below", published=0.0087, magnitude=0.16),
        (spatial_arm(4),),
        partial(_per_pixel, depth=4),
        on_request=True,
        minutes=45,
        reversal="it failed on unseen combinations as CNNs and MLPs do",
        reduced=SPATIAL_REDUCED,
        amendments=(PER_PIXEL_AMENDMENT,),
    ),
    Claim(
        "23",
        "how the pixel-token transformer does on unseen combinations",
        "authors' code",
        described("unseen error / blank"),
        ("transformer",),
        _transformer,
        also=("spatial mlp", "cnn bump"),
        on_request=True,
        minutes=320,
        reduced=SMALL,
    ),
    Claim(
        "37",
        "how pixel transformers of 3, 4 and 5 layers do on unseen combinations",
        "authors' code",
        described("unseen error / blank, 3 layers"),
        tuple(transformer_arm(depth) for depth in TRANSFORMER_DEPTHS[1:]),
        _deeper_transformers,
        on_request=True,
        minutes=1800,
        reduced=SMALL,
    ),
)


def _drawn_by(arm: str, evidence: Evidence) -> Figure:
    """Targets and images of one arm."""
    values = evidence[arm]
    share = number(median(values.share_of_blank("out")))
    right = percent(median(values["accuracy1_out"]))
    rows = {"target": values["picture_targets"][0], "drawn": values["pictures"][0]}
    title = f"Unseen error {share} of a blank image's, {right} in the right place ± 1 (median over seeds)"
    return cells_figure(evidence, arm, rows, title=title)


SECTION = StudySection(
    "Further: decoders that work pixel by pixel",
    arms=arms,
    claims=CLAIMS,
    drawings=(
        Drawing(
            "further-spatial-mlp",
            "Further. A net that computes every pixel separately, given the pixel's position.",
            "The same small net computes every pixel from the code of (x, y) and the pixel's own position; nothing "
            "else distinguishes the pixels. Positions are in the unseen corner, first seed.",
            ("spatial mlp",),
            partial(_drawn_by, "spatial mlp"),
            "image",
        ),
        Drawing(
            "further-transformer",
            "Further. A transformer with one token per pixel.",
            "Like the net that computes every pixel separately, but pixels can also attend to each other. The results "
            "of the published runs are not known to us. At scale quick the images are smaller, 14 × 14. Positions are "
            "in the hole, first seed.",
            ("transformer",),
            partial(_drawn_by, "transformer"),
            "image",
        ),
    ),
)
