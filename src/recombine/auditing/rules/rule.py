"""The interface of a rule that could have made a model's predictions for unseen cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from recombine.auditing.rules.failure import Failure
    from recombine.auditing.rules.rule_test import RuleResult, RuleTest


class Rule(ABC):
    """A way to predict unseen cells from the model's own predictions for seen cells.

    **Attributes:**

    - `name`: as in `--json`.
    - `rank`: order of simplicity. Of rules that explain a failure about equally well, the one with the lowest rank is
        the cause.
    - `rank_if_additive`: its rank for a model whose predictions for seen cells are sums of effects, if another.
    - `finding`: the id of the finding that it supports; empty if the rule is not a failure to compose.
    """

    name: ClassVar[str]
    rank: ClassVar[float]
    rank_if_additive: ClassVar[float | None] = None
    finding: ClassVar[str] = ""

    @abstractmethod
    def results(self, test: RuleTest) -> Iterator[RuleResult]:
        """Tests the rule in all its variants; yields nothing where it does not apply."""

    @abstractmethod
    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """For the verdict: how a model that follows the rule predicts unseen combinations; empty if not a failure."""


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    ```python
    >>> from recombine.auditing.rules.rule import listed
    >>> listed(["colour", "shape", "size"])
    'colour, shape and size'

    ```
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
