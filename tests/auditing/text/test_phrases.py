"""Which phrases an answer names."""

import pytest

from recombine import InputError
from recombine.auditing.text.phrases import Phrases
from recombine.data.text import TextScoring

CLASSES = {name: [name] for name in ("red cube", "blue ball", "cube", "Paris, France", "no. 5")}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is a red cube.", {"red cube"}),
        ("It is a RED, shiny cube.", {"cube"}),
        ("not a red cube", set()),
        ("It isn't really a red cube", set()),
        ("No, it is a red cube", {"red cube"}),
        ("There is no doubt that it is a red cube", {"red cube"}),
        ("It is not blue, it is a red cube", {"red cube"}),
        ("not a red cube but a blue ball", {"blue ball"}),
        ("Neither a red cube nor a blue ball", set()),
        ("red cubes and a blue ball", {"blue ball"}),
        ("a red cube and a blue ball", {"red cube", "blue ball"}),
        ("a red cube, yes, a red cube", {"red cube"}),
        ("The ball is red. Cube? No.", {"cube"}),
        ("somewhere in Paris, France!", {"Paris, France"}),
        ("paris france", {"Paris, France"}),
        ("Chanel no. 5", {"no. 5"}),
        ("incubed", set()),
        ("", set()),
        ("?!", set()),
        ("🙂", set()),
        ("red cube " * 1000, {"red cube"}),
    ],
)
def test_what_answers_name(answer, expected):
    assert Phrases(TextScoring(), CLASSES).named(answer) == expected


def test_synonyms_hold_within_phrases():
    scoring = TextScoring(synonyms={"crimson": "red", "cubes": "cube"})
    assert Phrases(scoring, CLASSES).named("Two crimson cubes") == {"red cube"}


def test_a_phrase_cannot_stand_for_two_things():
    with pytest.raises(InputError, match="different words"):
        Phrases(TextScoring(), {"1": ["red"], "2": ["Red!"]})
