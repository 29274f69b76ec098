"""Figure 2a, b, d: how well machines predict single networks, and what three errors in the published code changed."""

from __future__ import annotations

import numpy as np

from recombine.report import Column, Row, Table, number
from recombine.studies.claim import Claim
from recombine.studies.evidence import Arm, Evidence
from recombine.studies.gated_linear import published
from recombine.studies.gated_linear.networks import DRAWN, MEDIAN, MORE_ROWS, PROPER, UNITS, at_units
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import described, difference, ratio
from recombine.studies.study import StudySection, Tabulation


def _predicts(evidence: Evidence) -> PerSeed:
    arm, median = evidence[DRAWN], evidence[MEDIAN]

    def share(arm: Arm, name: str) -> np.ndarray:
        return np.asarray((arm[f"{name} differs"] / arm[f"{name} by chance"]).mean(axis=1))

    return PerSeed(
        share(arm, "group norm"),
        supports={
            "differs, group norm": arm["group norm differs"].mean(axis=1),
            "median thresholds": share(median, "group norm"),
            "l2 of units": share(arm, "l2 of units"),
            "l2 of effective weights": share(arm, "l2 of effective weights"),
            "published l2": share(arm, "published l2"),
        },
    )


PREDICTS = Claim(
    "9",
    "the group norm predicts single predictions of trained networks far beyond independent errors",
    "Figure 2b",
    ratio(
        "how often machine and net differ / by chance, mean over 10, 20 and 50 units (random thresholds)",
        "below",
        published=0.088 / 0.253,
        magnitude=0.5,
    ),
    (DRAWN, MEDIAN),
    _predicts,
    headline=True,
    reversal="machine and net had erred on different images",
    finding="Not the group norm alone: the machine with the l2 norm of units predicts the networks as well. What they "
    "share is the architecture.",
)


def _errors_agree(evidence: Evidence) -> PerSeed:
    arm = evidence[MEDIAN]

    def off(name: str) -> np.ndarray:
        return np.asarray(np.abs(arm[f"{name} error"] - arm["net error"]).mean(axis=1))

    return PerSeed(
        off("published l2") - off("group norm"),
        supports={
            f"distance from the net's error, {name}": off(name)
            for name in ("group norm", "l2 of units", "l2 of effective weights")
        },
    )


ERRORS_AGREE = Claim(
    "8",
    "the group norm's error is close to that of trained networks; that of the published l2 programme is not",
    "Figure 2a",
    difference(
        "distance from the net's error, published l2 minus group norm, mean over 10, 20 and 50 units",
        "above",
        published=0.077,
    ),
    (MEDIAN,),
    _errors_agree,
    reversal="both programmes had been as close to the trained networks",
)


def _errors_go_together(evidence: Evidence) -> PerSeed:
    median, drawn = evidence[MEDIAN], evidence[DRAWN]

    def correlation(name: str) -> np.ndarray:
        """Over the six cells of a seed: three numbers of units with two kinds of thresholds."""
        net, machine = (
            np.concatenate([arm[f"{one} error"] for arm in (median, drawn)], axis=1) for one in ("net", name)
        )
        return np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(net, machine, strict=True)])

    return PerSeed(
        correlation("group norm"),
        supports={
            name: correlation(name) for name in ("l2 of units", "l2 of effective weights", "published l2")
        },
    )


ERRORS_GO_TOGETHER = Claim(
    "25",
    "where the group norm predicts a larger error, trained networks have one",
    "Figure 2a",
    difference(
        "correlation of both errors over six settings (10, 20 and 50 units, two kinds of thresholds)",
        "above",
        published=0.969,
        magnitude=0.8,
        published_text="0.97 and 0.93 (42 and 34 cells, 500 and 2000 rows together)",
    ),
    (MEDIAN, DRAWN),
    _errors_go_together,
    reversal="settings with a larger error of the machine had been those with a smaller error of the net",
    finding="This is not specific to the group norm: both proper l2 norms behind the same gates predict the errors as "
    "well. Only the published l2 programme does not.",
)


def _lost_thresholds(evidence: Evidence) -> PerSeed:
    arm = evidence[MEDIAN]
    return PerSeed(
        (arm["redrawn differs"] / arm["group norm differs"]).mean(axis=1),
        supports={
            "differs, thresholds redrawn": arm["redrawn differs"].mean(axis=1),
            "differs, thresholds kept": arm["group norm differs"].mean(axis=1),
        },
    )


LOST_THRESHOLDS = Claim(
    "23",
    "the published comparison with median thresholds lost the thresholds of the trained networks",
    "authors' code; Figure 2b",
    ratio("how often machine and net differ, thresholds redrawn / kept", "above", published=0.179 / 0.088),
    (MEDIAN,),
    _lost_thresholds,
    reversal="redrawn thresholds had changed nothing",
)


def _mixed_groups(evidence: Evidence) -> PerSeed:
    arm = evidence[MEDIAN]
    return PerSeed(
        (arm["published groups error"] / arm["group norm error"]).mean(axis=1),
        supports={
            "differs from the net: published groups": arm["published groups differs"].mean(axis=1),
            "differs from the net: units": arm["group norm differs"].mean(axis=1),
        },
    )


MIXED_GROUPS = Claim(
    "22",
    "what mixing units in the published group norm does to its error",
    "authors' code",
    described("error with the published groups / with units, mean over 10, 20 and 50 units"),
    (MEDIAN,),
    _mixed_groups,
)


def _more_rows(evidence: Evidence) -> PerSeed:
    arm = evidence[MORE_ROWS]
    net, machine = at_units(arm, "net error"), at_units(arm, "group norm error")
    return PerSeed(
        np.abs(machine - net),
        supports={
            "net error": net,
            "group norm error": machine,
            "l2 of effective weights error": at_units(arm, "l2 of effective weights error"),
            "l2 of units error": at_units(arm, "l2 of units error"),
            "published l2 error": at_units(arm, "published l2 error"),
            "differs from the net / by chance": at_units(arm, "group norm differs")
            / at_units(arm, "group norm by chance"),
        },
    )


MORE = Claim(
    "17",
    "with 2000 rows, too, the machine of minimum group norm has nearly the error of the trained network",
    "Figure 2d",
    described("distance of the two errors (20 units)", published_text="0.003 (0.103, 0.100)"),
    (MORE_ROWS,),
    _more_rows,
    on_request=True,
    minutes=3,
)


def _table(evidence: Evidence) -> Table:
    """Published errors, the same programmes as they were coded, and as they were meant."""
    arm = evidence[MEDIAN]

    def shown(name: str, place: int) -> str:
        return number(float(np.nanmean(arm[name][:, place])))

    rows = []
    as_published = arm["net error"].shape[1] == len(UNITS)  # scale smoke has other numbers of units
    for place, units in enumerate(UNITS if as_published else ()):
        for label, key, coded, meant in (
            ("trained net", "net", None, ("net",)),
            ("group norm", "group norm", "published groups", ("group norm",)),
            ("l2 norm", "published l2", "published l2", PROPER[::-1]),
        ):
            known = number(published.TWO_LAYERS[key][place])
            as_coded = "–" if coded is None else shown(f"{coded} error", place)
            corrected = ", ".join(shown(f"{name} error", place) for name in meant)
            rows.append(Row([label, str(units), known, as_coded, corrected]))
    pooled = [number(float(np.mean(arm[f"{name} differs"]))) for name in ("redrawn", "group norm")]
    rows.append(Row(["net differs from group norm", "all", number(published.DIFFERS_MEDIAN), *pooled]))
    columns = [Column("error of"), Column("units", "right")]
    columns += [Column(name, "right") for name in ("published", "as coded", "corrected")]
    return Table(columns, rows)


SECTION = StudySection(
    "Figure 2: what the machines predict of single networks",
    arms=lambda scale: {},
    claims=(PREDICTS, ERRORS_AGREE, ERRORS_GO_TOGETHER, LOST_THRESHOLDS, MIXED_GROUPS, MORE),
    tabulations=(
        Tabulation(
            "Median thresholds, 500 rows, means over seeds: published, our numbers from the programmes as they were "
            "coded, and from the corrected ones (l2: of units, of effective weights)",
            (MEDIAN,),
            _table,
        ),
    ),
)
