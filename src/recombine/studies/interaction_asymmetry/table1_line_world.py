"""Table 1 and Figure 3 of the paper in one dimension: what the two penalties do to slots.

The line world has images of 32 pixels with two coloured bars that do not overlap. A Transformer autoencoder with three
slots is trained with the capacity penalty (beta, the KL term of a VAE), the interaction penalty (alpha, on the
decoder's attention), both or none. J-ARI says whether objects are in different slots, JIS whether a pixel depends on
one slot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.nets import (
    additive_decoder,
    attention_decoder,
    dense_decoder,
    slot_autoencoder,
    slot_transformer,
)
from recombine.parts import Part
from recombine.remedies import paper_equivalent_weight
from recombine.report import BASELINE, blank_figure, colours, look, seed_points, sentence
from recombine.runs import Trial
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import Arm, ArmPlan, Evidence, Scale
from recombine.studies.interaction_asymmetry import recombination_probes, slot_probes
from recombine.studies.interaction_asymmetry.separation import (
    clean,
    fitted,
    one_slot,
    separates_more_often,
    several_slots,
)
from recombine.studies.interaction_asymmetry.slot_maps import draw_slot_maps
from recombine.studies.interaction_asymmetry.slot_training import BETA, slot_recipe
from recombine.studies.interaction_asymmetry.tables import slot_table
from recombine.studies.measurement import PerSeed, Successes
from recombine.studies.quantity import difference, rate, ratio
from recombine.studies.study import Drawing, StudySection
from recombine.tasks import line_world

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PIXELS = 32
SLOTS = 3
WIDTH = 8
SEEDS = {"smoke": 1, "quick": 10, "paper": 10}
STEPS = {"smoke": 20, "quick": 20_000, "paper": 50_000}
ERROR_WEIGHT = 1.0
"""Of the squared error in all arms, as in the authors' code for CLEVR6 (5 for sprites)."""
PAPER_ALPHA = round(paper_equivalent_weight(PIXELS, ERROR_WEIGHT), 3)
MULTIPLES = (1, 10, 100)
ALPHAS = tuple(round(times * PAPER_ALPHA, 3) for times in MULTIPLES)
"""From the paper-equivalent weight, over two decades."""
MULTIPLE = MULTIPLES[1]
ALPHA = ALPHAS[1]
"""Weight in the arm with both penalties: in the middle of the scan."""
MINUTES_PER_ARM = 22
"""Ten seeds on two cores."""


def line_arm(alpha: float, beta: float) -> str:
    """An arm with all combinations in training."""
    if not alpha:
        return "beta only" if beta else "plain"
    if not beta:
        return f"alpha {alpha:g} only"
    return f"both, alpha {alpha:g}"


PLAIN, BETA_ONLY = line_arm(0, 0), line_arm(0, BETA)
ALPHA_ONLY, BOTH = line_arm(ALPHA, 0), line_arm(ALPHA, BETA)
SCAN = tuple(line_arm(alpha, BETA) for alpha in ALPHAS)
FOUR = (PLAIN, ALPHA_ONLY, BETA_ONLY, BOTH)


def line_net(scale: Scale, *, variational: bool, decoder: str = "attention") -> Part:
    """Three slots of eight latents; two encoder and two decoder layers."""
    hidden, depth = (128, 128), 1 if scale == "smoke" else 2
    decoders = {
        "attention": Part(attention_decoder, inner=48, queries=32, heads=4, depth=depth),
        "additive": Part(additive_decoder, hidden=hidden),
        "dense": Part(dense_decoder, hidden=hidden),
    }
    return Part(
        slot_autoencoder,
        shape=(1, PIXELS, 3),
        slots=SLOTS,
        width=WIDTH,
        variational=variational,
        encoder=Part(slot_transformer, channels=16, depth=depth),
        decoder=decoders[decoder],
    )


def line_trial(scale: Scale, *, alpha: float, beta: float, decoder: str = "attention", **task: Any) -> Trial:
    """A net for the line world, with its penalties and all probes; `task` goes to `line_world`."""
    rows: dict[str, Any] = {"rows": 200, "test": 60} if scale == "smoke" else {}
    probes = (
        Part(slot_probes.slot_quality, images=20 if scale == "smoke" else 200),
        Part(slot_probes.slot_images),
        Part(recombination_probes.recombination),
        Part(slot_probes.decoder_interaction, scenes=4 if scale == "smoke" else 32),
    )
    net = line_net(scale, variational=beta > 0, decoder=decoder)
    how = slot_recipe(STEPS[scale], alpha=alpha, beta=beta, error_weight=ERROR_WEIGHT)
    return Trial(Part(line_world, **rows, **task), probes, (0,), net, how)


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """Both penalties, each alone, none, and the scan of alpha."""
    weights = [(0.0, 0.0), (ALPHA, 0.0), (0.0, BETA), *((alpha, BETA) for alpha in ALPHAS)]
    plans = {
        line_arm(alpha, beta): ArmPlan(line_trial(scale, alpha=alpha, beta=beta), SEEDS[scale])
        for alpha, beta in weights
    }
    return {BOTH: plans[BOTH]} if scale == "smoke" else plans


def scores(evidence: Evidence, names: tuple[str, ...] = FOUR) -> dict[str, np.ndarray]:
    """J-ARI, JIS and active slots of the arms that were run, to go with a verdict."""
    readings = {"J-ARI": "j_ari", "JIS": "jis", "active slots": "active"}
    return {
        f"{label}, {name}": evidence[name][key]
        for label, key in readings.items()
        for name in names
        if name in evidence
    }


TWENTY_THOUSAND = Amendment(
    "5 seeds, 10,000 steps, error weight 5 in arms with a penalty",
    "10 seeds, 20,000 steps, error weight 1 in all arms",
    "with error weight 5 the slots carried 39 nats, more than two bars need, and the effect was first observed in "
    "longer runs with weight 1; a penalty should not be blamed for the setting",
)
WEAKER_ALPHA = Amendment(
    "alpha 0.6: ten times the paper-equivalent weight at error weight 5, but 47 times that at error weight 1",
    f"alpha {ALPHA:g}: ten times the paper-equivalent weight at error weight 1",
    "alpha balances the squared error, so lowering the error weight without it made the penalty five times stronger "
    "than planned; many nets put everything into one slot",
)
NOT_ONE_SLOT = Amendment(
    "all fitted nets",
    "fitted nets that do not put everything into one slot",
    "a net that uses one slot only is exclusive and has no interaction between slots, without separating anything",
)
RATE_INSTEAD_OF_MEANS = Amendment(
    "means of J-ARI and JIS over seeds",
    "how many nets separate the objects; JIS has claims of its own",
    "J-ARI varies from 0 to 1 over seeds, so its mean describes no net",
)
ACTIVE = Amendment(
    "active slots counted by capacity, too, in variational nets",
    "a slot is active if it has the largest share of at least 1% of the foreground, in every arm",
    "the old count was 3 for every variational net, whatever its decoder did",
)


def _clean_separation(evidence: Evidence) -> Successes:
    arm = evidence[BOTH]
    return Successes(
        clean(arm),
        requires=fitted(both=arm),
        supports=scores(evidence, (BOTH,)) | {"everything in one slot (1: yes)": one_slot(arm).astype(float)},
    )


def _penalties_disentangle(evidence: Evidence) -> Successes:
    both, plain = evidence[BOTH], evidence[PLAIN]
    return separates_more_often(
        both, plain, requires=fitted(both=both, plain=plain), supports=scores(evidence)
    )


def _capacity_matters_more(evidence: Evidence) -> Successes:
    beta, alpha = evidence[BETA_ONLY], evidence[ALPHA_ONLY]
    supports = {**scores(evidence), "JIS, beta only minus alpha only": beta["jis"] - alpha["jis"]}
    return separates_more_often(beta, alpha, requires=fitted(beta=beta, alpha=alpha), supports=supports)


def _jis(evidence: Evidence, first: str, second: str) -> PerSeed:
    one, other = evidence[first], evidence[second]
    return PerSeed(
        one["jis"] - other["jis"],
        requires={**fitted(first=one, second=other), **several_slots(first=one, second=other)},
        supports=scores(evidence, (first, second)),
    )


PENALTIES = Claim(
    "19",
    "capacity and interaction penalties disentangle objects: with both, slots hold one object each more often than "
    "without",
    "Table 1, Section 6",
    rate(
        "share of pairs separated with both penalties only, of those separated in one arm",
        "above",
        no_effect=0.5,
        published_text="unregularised clearly worse",
    ),
    (PLAIN, BOTH),
    _penalties_disentangle,
    also=(ALPHA_ONLY, BETA_ONLY),
    headline=True,
    on_request=True,
    minutes=2 * MINUTES_PER_ARM,
    reversal="plain nets separated the objects on seeds where nets with both penalties did not",
    reduced="images of one row of 32 pixels instead of 64 × 64, 20,000 steps instead of 500,000",
    amendments=(TWENTY_THOUSAND, RATE_INSTEAD_OF_MEANS, WEAKER_ALPHA),
    finding="At this size the penalties do not help to separate objects: plain nets do so in four of ten seeds, nets "
    "with both penalties in two, and it was the same with alpha 0.6. Seeds differ more than arms, so that single seeds "
    "can suggest a large effect either way. The paper's nets are larger and trained 25 times longer.",
)
SEPARATION = Claim(
    "18",
    "with both penalties, nets separate the two objects cleanly",
    "Table 1 (its numbers were not available), ours",
    rate("share of nets that separate the objects", "above", no_effect=0.5),
    (BOTH,),
    _clean_separation,
    on_request=True,
    minutes=MINUTES_PER_ARM,
    reversal="most nets mixed the objects or put both into one slot",
    reduced="images of one row of 32 pixels, 20,000 steps",
    amendments=(TWENTY_THOUSAND, RATE_INSTEAD_OF_MEANS, ACTIVE, WEAKER_ALPHA),
)
EXCLUSIVE_PIXELS = Claim(
    "35",
    "with both penalties, a pixel depends more exclusively on one slot than without",
    "Table 1, Section 6",
    difference("JIS, both penalties minus none", "above", magnitude=0.3),
    (PLAIN, BOTH),
    lambda evidence: _jis(evidence, BOTH, PLAIN),
    on_request=True,
    minutes=2 * MINUTES_PER_ARM,
    reversal="penalised decoders spread a pixel over more slots",
    reduced="images of one row of 32 pixels, 20,000 steps",
    amendments=(
        Amendment(
            "part of claim 19: J-ARI or JIS at least 0.3 higher", "a claim of its own", "two quantities"
        ),
        TWENTY_THOUSAND,
        WEAKER_ALPHA,
        NOT_ONE_SLOT,
    ),
)
CAPACITY = Claim(
    "20",
    "the capacity penalty does more for the separation of objects than the interaction penalty",
    "Table 1, as described by two reviewers",
    rate(
        "share of pairs separated with beta only, of those separated in one arm",
        "above",
        no_effect=0.5,
        published_text="beta has the larger effect",
    ),
    (ALPHA_ONLY, BETA_ONLY),
    _capacity_matters_more,
    also=(PLAIN, BOTH),
    on_request=True,
    minutes=2 * MINUTES_PER_ARM,
    reversal="alpha alone separated the objects on seeds where beta alone did not",
    reduced="images of one row of 32 pixels, 20,000 steps",
    amendments=(TWENTY_THOUSAND, RATE_INSTEAD_OF_MEANS, WEAKER_ALPHA),
)
CAPACITY_JIS = Claim(
    "36",
    "the capacity penalty does more for exclusive pixels than the interaction penalty",
    "Table 1, as described by two reviewers",
    difference("JIS, beta only minus alpha only", "above", published_text="beta has the larger effect"),
    (ALPHA_ONLY, BETA_ONLY),
    lambda evidence: _jis(evidence, BETA_ONLY, ALPHA_ONLY),
    on_request=True,
    minutes=2 * MINUTES_PER_ARM,
    reversal="penalised attention made pixels more exclusive than limited capacity",
    reduced="images of one row of 32 pixels, 20,000 steps",
    amendments=(
        Amendment("part of claim 20", "a claim of its own", "two quantities"),
        TWENTY_THOUSAND,
        WEAKER_ALPHA,
        NOT_ONE_SLOT,
    ),
)


def _stronger_alpha(evidence: Evidence) -> PerSeed:
    names = (BETA_ONLY, *SCAN)
    none, strongest = evidence[BETA_ONLY], evidence[SCAN[-1]]
    supports: dict[str, Any] = {f"JIS, {name}": evidence[name]["jis"] for name in names}
    supports |= {f"J-ARI, {name}": evidence[name]["j_ari"] for name in names}
    supports |= {f"shared attention, {name}": evidence[name]["attention_interaction"] for name in names}
    supports["squared error, strongest / none"] = strongest["sse"] / none["sse"]
    supports["strongest: everything in one slot (1: yes)"] = one_slot(strongest).astype(float)
    return PerSeed(strongest["jis"] - none["jis"], requires=fitted(none=none), supports=supports)


STRONGER_ALPHA = Claim(
    "21",
    "a stronger interaction penalty makes pixels more exclusive: alpha at 100 times the paper-equivalent weight",
    "ours",
    difference("JIS, strongest alpha minus none (both with beta)", "above"),
    (BETA_ONLY, *SCAN),
    _stronger_alpha,
    on_request=True,
    minutes=4 * MINUTES_PER_ARM,
    reversal="attention grew sharper while pixels depended on more slots",
    reduced="images of one row of 32 pixels, 20,000 steps",
    amendments=(
        Amendment(
            "attention, JIS and error each monotone over the scan, by means",
            "JIS at the strongest alpha against none; the rest is reported",
            "one quantity per claim",
        ),
        TWENTY_THOUSAND,
        WEAKER_ALPHA,
    ),
)


def _interaction(evidence: Evidence) -> PerSeed:
    both, plain = evidence[BOTH], evidence[PLAIN]
    others = [name for name in FOUR if name in evidence]
    return PerSeed(
        plain["q1"] / both["q1"],
        requires={**fitted(both=both, plain=plain), **several_slots(both=both, plain=plain)},
        supports={
            "r2, none / both": plain["r2"] / both["r2"],
            **{f"{key}, {name}": evidence[name][key] for key in ("q1", "r2") for name in others},
        },
    )


LESS_INTERACTION = Claim(
    "22",
    "the penalties lower the interaction between slots in the trained decoder",
    "Section 5, ours",
    ratio("q1, none / both penalties", "above", magnitude=2.0),
    (PLAIN, BOTH),
    _interaction,
    also=(ALPHA_ONLY, BETA_ONLY),
    on_request=True,
    minutes=2 * MINUTES_PER_ARM,
    reversal="slots interacted more in penalised decoders",
    reduced="images of one row of 32 pixels, 20,000 steps",
    amendments=(
        Amendment("means of q1 and of r2", "q1 per seed; r2 is reported", "one quantity per claim"),
        TWENTY_THOUSAND,
        WEAKER_ALPHA,
        NOT_ONE_SLOT,
    ),
)


def draw_scores(evidence: Evidence) -> Figure:
    """J-ARI, JIS and active slots of the four arms."""
    readings = {"J-ARI": "j_ari", "JIS": "jis", "active slots": "active"}
    with look():
        figure = blank_figure(height=2.6)
        panels = figure.subplots(1, 3, width_ratios=(1.5, 1, 1))
        for ax, (title, name) in zip(panels, readings.items(), strict=True):
            limits = (0, 3.1) if name == "active" else (-0.05, 1.05)
            seed_points(ax, {arm: evidence[arm][name] for arm in FOUR}, limits=limits, title=title)
            if ax is not panels[0]:
                ax.set_yticklabels([])
        panels[2].axvline(2, color=BASELINE, linewidth=0.8)
    return figure


def draw_interaction(evidence: Evidence) -> Figure:
    """q1 and r2 of the four arms' decoders."""
    with look():
        figure = blank_figure(height=2.4, width=6.2)
        panels = figure.subplots(1, 2, width_ratios=(1.4, 1))
        for ax, name in zip(panels, ("q1", "r2"), strict=True):
            seed_points(ax, {arm: evidence[arm][name] for arm in FOUR}, limits=(0, 1), title=name)
        panels[1].set_yticklabels([])
    return figure


def draw_scan(evidence: Evidence) -> Figure:
    """What grows and what falls with alpha."""
    names = (BETA_ONLY, *SCAN)
    positions = np.arange(len(names))
    readings = {
        "J-ARI and JIS": {"J-ARI": "j_ari", "JIS": "jis"},
        "squared error of an image": {"error": "sse"},
        "attention shared between slots": {"L_int": "attention_interaction"},
    }
    with look():
        figure = blank_figure(height=2.5)
        panels = figure.subplots(1, 3)
        for ax, (title, series) in zip(panels, readings.items(), strict=True):
            for label, ink in colours(list(series)).items():
                values = np.array([evidence[name][series[label]] for name in names])
                ax.plot(positions, np.median(values, axis=1), "-", color=ink, label=label)
                ax.plot(positions, values, "o", color=ink, markersize=3)
            ax.set_xticks(positions, ["0", *(f"{alpha:g}" for alpha in ALPHAS)])
            ax.set_xlabel("alpha")
            sentence(ax, title)
        panels[0].set_ylim(-0.05, 1.05)
        panels[0].legend(loc=(0.3, 0.1))
        panels[1].set_ylim(bottom=0)
        panels[2].axhline(1 / 3, color=BASELINE, linewidth=0.8)
        panels[2].set_ylim(0, 0.36)
    return figure


def draw_maps(evidence: Evidence) -> Figure:
    """Which slot every pixel depends on, in the four arms."""
    four: dict[str, Arm] = {name: evidence[name] for name in FOUR}
    return draw_slot_maps(four)


SECTION = StudySection(
    "Section 6, Table 1: the penalties in the line world",
    arms=arms,
    claims=(
        PENALTIES,
        SEPARATION,
        EXCLUSIVE_PIXELS,
        CAPACITY,
        CAPACITY_JIS,
        STRONGER_ALPHA,
        LESS_INTERACTION,
    ),
    drawings=(
        Drawing(
            "four-arms",
            "How each penalty changes the slots in the line world.",
            "Each point is a seed; bar and stroke: interval and median. J-ARI: are objects in different slots? "
            "JIS: does a pixel depend on a single slot? Grey line: two objects.",
            FOUR,
            draw_scores,
        ),
        Drawing(
            "alpha",
            "The interaction penalty, from the paper-equivalent weight to 100 times that, together with the capacity "
            "penalty.",
            "Each point is a seed; lines connect medians. Grey line: attention spread evenly over three slots.",
            (BETA_ONLY, *SCAN),
            draw_scan,
        ),
        Drawing(
            "slot-maps",
            "Which slot a pixel depends on, by the decoder's Jacobian and by its attention.",
            "Three test images of the net of median J-ARI of each arm. Every slot has a colour; a pixel that depends "
            "on several shows their mixture.",
            FOUR,
            draw_maps,
            form="image",
        ),
        Drawing(
            "interaction",
            "Interaction between slots in trained decoders.",
            "q1: how evenly pixels depend on several slots (0: each on one). r2: share of second derivatives "
            "across slots (0 for additive decoders). Each point is a seed.",
            FOUR,
            draw_interaction,
        ),
    ),
    tabulations=(slot_table("All arms of the line world", (PLAIN, ALPHA_ONLY, BETA_ONLY, *SCAN)),),
)
