"""Which of several words or phrases an answer names.

"It is a red cube." names "red cube". Words must be whole, so "red cubes" does not name "red cube" unless a synonym says
so. Within a longer phrase that is named, a shorter one does not count: "a red cube" names "red cube", not "cube". A
phrase that is negated is not named: up to three words before it, in the same clause, stands one of a few English words
such as "not", "no" or "without". An answer may name several phrases; whoever asks decides what that means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recombine.data.text import TextScoring
from recombine.errors import InputError

NEGATIONS = frozenset(
    (
        *(
            "not",
            "no",
            "never",
            "without",
            "neither",
            "nor",
            "cannot",
            "cant",
            "isnt",
            "arent",
            "wasnt",
            "werent",
        ),
        *("doesnt", "dont", "didnt", "aint"),
    )
)
"""Words after which a phrase is not meant. (Apostrophes are left out before words are compared.)"""
CONTRASTS = frozenset({"but", "rather", "instead"})
"""Words that end a negation: "not a cube but a ball"."""
NEGATION_REACH = 3
"""Words that a negation reaches: "not really a red cube", but not "no doubt that this is a red cube"."""
_BREAK = "\n"
"""Stands between two clauses; no word is equal to it."""
Words = tuple[str, ...]


class Phrases:
    """Words and phrases by the names of what they stand for.

    **Arguments:**

    - `texts`: what an answer may call each of several things, by name.

    ```python
    >>> from recombine.auditing.text.phrases import Phrases
    >>> from recombine.data import TextScoring
    >>> shapes = Phrases(TextScoring(), {"cube": ["cube", "box"], "ball": ["ball"]})
    >>> sorted(shapes.named("Not a ball, but a box."))
    ['cube']
    >>> sorted(shapes.named("a ball on a cube"))
    ['ball', 'cube']

    ```
    """

    def __init__(self, scoring: TextScoring, texts: Mapping[str, Iterable[str]]) -> None:
        self._scoring = scoring
        self._name_of: dict[tuple[str, ...], str] = {}
        for name, variants in texts.items():
            for text in variants:
                # With its punctuation, if it has some ("Paris, France"), and without.
                for words in {words_and_breaks(scoring, text), scoring.words(text)}:
                    known = self._name_of.setdefault(words, name)
                    if known != name:
                        got = f"{text!r} for {known!r} and {name!r}"
                        raise InputError("text", got[:200], "different words for different things")
        self._name_of.pop((), None)
        self._lengths: dict[str, list[int]] = {}
        for words in self._name_of:
            lengths = self._lengths.setdefault(words[0], [])
            if len(words) not in lengths:
                lengths.append(len(words))
                lengths.sort(reverse=True)

    def named(self, answer: str | Words) -> frozenset[str]:
        """The names of everything that the answer names; the answer may be split into words already."""
        words = words_and_breaks(self._scoring, answer) if isinstance(answer, str) else answer
        found = set()
        at = 0
        while at < len(words):
            for length in self._lengths.get(words[at], ()):
                name = self._name_of.get(words[at : at + length])
                if name is not None:
                    if not _is_negated(words, at):
                        found.add(name)
                    at += length
                    break
            else:
                at += 1
        return frozenset(found)


def words_and_breaks(scoring: TextScoring, text: str) -> Words:
    """The words of a text, with marks where clauses end: what `Phrases.named` makes of an answer first."""
    words: list[str] = []
    for clause in scoring.clauses(text):
        words += [_BREAK, *clause] if words else clause
    return tuple(words)


def _is_negated(words: tuple[str, ...], at: int) -> bool:
    for word in reversed(words[max(0, at - NEGATION_REACH) : at]):
        if word == _BREAK or word.casefold() in CONTRASTS:
            return False
        if word.casefold() in NEGATIONS:
            return True
    return False
