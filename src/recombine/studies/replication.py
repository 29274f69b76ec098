"""Two runs of one study with different seeds: how many verdicts agree."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.studies.reproduction import Reproduction


@dataclass(frozen=True)
class Agreement:
    """Trained claims that both runs decide, how many have the same verdict, and which changed sides.

    - `reversed`: ids of claims that are reproduced or weaker in one run and contradicted in the other.
    - `changed`: all verdicts that differ between the runs, also where one is open, by id.
    """

    decided: int
    same: int
    reversed: tuple[str, ...]
    changed: dict[str, tuple[str, str]]


def agreement(first: Reproduction, second: Reproduction) -> Agreement:
    """Compares the verdicts on trained claims; those that are open or not run in either are left out."""
    measured: dict[str, tuple[str, str]] = {}
    for mine in first.outcomes:
        theirs = second.outcome(mine.claim.id)
        if mine.claim.kind == "trained" and theirs is not None:
            names = mine.verdict.name, theirs.verdict.name
            if "not run" not in names:
                measured[mine.claim.id] = names
    pairs = [(id, names) for id, names in measured.items() if "open" not in names]
    sides = [(id, {name == "contradicted" for name in names}) for id, names in pairs]
    return Agreement(
        decided=len(pairs),
        same=sum(a == b for _, (a, b) in pairs),
        reversed=tuple(id for id, side in sides if len(side) == 2),
        changed={id: names for id, names in measured.items() if names[0] != names[1]},
    )
