"""Layers, places and units as parts of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recombine.report import count, percent

if TYPE_CHECKING:
    from recombine.modularity.result import ModularityReport

SHOWN = 6
"""Numbers that are named in a sentence."""


def place_name(report: ModularityReport, place: int) -> str:
    """The inputs, a hidden layer or the outputs, by their place among the net's units."""
    return place_names(len(report.live))[place]


def place_names(places: int) -> list[str]:
    """Names of all places of units.

    ```python
    >>> from recombine.modularity.phrases import place_names
    >>> place_names(4)
    ['inputs', 'hidden 1', 'hidden 2', 'outputs']

    ```
    """
    return ["inputs", *(f"hidden {layer}" for layer in range(1, places - 1)), "outputs"]


def few_numbers(numbers: Any, most: int = SHOWN) -> str:
    """Numbers in a row, the first few of many; runs are written as such.

    ```python
    >>> from recombine.modularity.phrases import few_numbers
    >>> few_numbers([0, 1, 2, 3, 7]), few_numbers(range(0, 40, 2))
    ('0–3, 7', '0, 2, 4, 6, 8, 10, …')

    ```
    """
    runs: list[list[int]] = []
    for value in map(int, numbers):
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    words: list[str] = []
    for run in runs:
        words += [f"{run[0]}–{run[-1]}"] if len(run) > 2 else [str(value) for value in run]
    return ", ".join(words[:most]) + (", …" if len(words) > most else "")


def layer_numbers(layers: Sequence[int]) -> str:
    """Layers, counted from 1: "layer 2", "layers 1, 2"."""
    return f"layer{'s' if len(layers) > 1 else ''} {few_numbers([layer + 1 for layer in layers])}"


def share(value: float) -> str:
    """A share as a percentage, in which rounding errors do not take anything from 100 %.

    ```python
    >>> from recombine.modularity.phrases import share
    >>> share(1 - 1e-15), share(0.9999)
    ('100 %', '99.9 %')

    ```
    """
    return percent(round(float(value), 12))


def number_of(number: int, what: str) -> str:
    """A number with what it counts, in the plural if need be."""
    return f"{count(number)} {what}{'' if number == 1 else 's'}"
