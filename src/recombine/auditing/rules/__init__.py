"""Rules that could have made a model's predictions for unseen cells, one file each.

To add a rule, add a file with a subclass of `Rule` and its name to `RULES`.
"""

from recombine.auditing.rules.additive import Additive
from recombine.auditing.rules.confusion import Confusion
from recombine.auditing.rules.constant import Constant
from recombine.auditing.rules.copy_nearby import CopyNearby
from recombine.auditing.rules.failure import Failure
from recombine.auditing.rules.level_function import LevelFunction
from recombine.auditing.rules.level_mean import LevelMean
from recombine.auditing.rules.nearest_cell import NearestCell
from recombine.auditing.rules.rule import Rule
from recombine.auditing.rules.rule_test import RuleResult, RuleTest
from recombine.auditing.rules.slope import Slope
from recombine.auditing.rules.stored_value import StoredValue
from recombine.auditing.rules.superposition import Superposition

RULES: tuple[Rule, ...] = (
    Constant(),
    Confusion(),
    LevelMean(),
    LevelFunction(),
    NearestCell(),
    CopyNearby(),
    StoredValue(),
    Additive(),
    Slope(),
    Superposition(),
)
"""All rules, in the order in which they are tested; `Rule.rank` is their order of simplicity."""

__all__ = ["RULES", "Failure", "Rule", "RuleResult", "RuleTest"]
