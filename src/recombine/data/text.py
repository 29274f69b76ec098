"""Free text as words that can be compared: case, Unicode forms, punctuation, articles, number words, synonyms."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from recombine.data.argument_types import check_flag, shown
from recombine.errors import InputError

MAX_TEXT_LENGTH = 100_000
"""Characters of one answer. Every character is looked at, and a report shows answers."""
ARTICLES = frozenset({"a", "an", "the"})
_UNITS = (
    *(
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    ),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {word: number for number, word in enumerate(_UNITS)}
_NUMBERS |= {word: 10 * number for number, word in enumerate(_TENS, start=2)}
_SCALES = {"hundred": 100, "thousand": 1000}
_DIGITS = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_THOUSANDS = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,])")
_CLAUSE_ENDS = re.compile(r"[,;:!?\n()\u060c\u061b\u061f\u3002\u3001]+|\.(?=\s|$)")
_INITIALS = re.compile(r"\b(?:\w\.){2,}")


class _Marks(dict[int, str | None]):
    """What becomes of single characters, found out once each: for `str.translate`."""

    def __missing__(self, code: int) -> str | None:
        becomes = self[code] = _mark(chr(code))
        return becomes


class _Visible(dict[int, str | None]):
    """Leaves out marks of direction, joiners and variants of emoji, which nobody sees: for `str.translate`."""

    def __missing__(self, code: int) -> str | None:
        hidden = unicodedata.category(chr(code)) == "Cf" or 0xFE00 <= code <= 0xFE0F
        becomes = self[code] = None if hidden else chr(code)
        return becomes


def _mark(sign: str) -> str | None:
    kind = unicodedata.category(sign)
    if kind == "Nd":
        return str(unicodedata.digit(sign))
    if sign in "'’`´":
        return None  # isn't, O'Neill
    if sign in ".-−":
        return "-" if sign == "−" else sign  # they may belong to a number
    if kind[0] in "PZC" or kind == "Sk":
        return " "
    return f" {sign} " if kind == "So" else sign  # an emoji is a word


_VISIBLE = _Visible()
_MARKS = _Marks()


@dataclass(frozen=True)
class TextScoring:
    """How a free-text answer is compared with a target.

    Both are first brought into a form in which texts that mean the same are the same. Unicode is always in form NFKC,
    without invisible characters, and white space does not count. An answer of nothing but articles or signs keeps them.

    **Attributes:**

    - `case`: whether case is ignored; `punctuation`: whether punctuation is, and emoji next to words.
    - `articles`: whether a, an and the are left out; `numbers`: whether "three", "3" and "3.0" are the same.
    - `synonyms`: words or phrases that stand for others, such as `{"crimson": "red", "sphere": "ball"}`. Chains are
        followed to their end.
    - `match`: `"exact"`: the answer is the target, in that form. `"contains"`: it names the target, see
        `recombine.auditing.text.phrases`. Or a function of the target and the answer, both as they were written, that
        gives a score from 0 (wrong) to 1 (right).

    ```python
    >>> from recombine.data import TextScoring
    >>> TextScoring(synonyms={"crimson": "red"}).normalise("  The CRIMSON cubes: twenty-one! ")
    'red cubes 21'

    ```
    """

    case: bool = True
    punctuation: bool = True
    articles: bool = True
    numbers: bool = True
    synonyms: Mapping[str, str] = field(default_factory=dict)
    match: str | Callable[[str, str], float] = "exact"

    def __post_init__(self) -> None:
        for name in ("case", "punctuation", "articles", "numbers"):
            check_flag(f"text.{name}", getattr(self, name))
        if not isinstance(self.synonyms, Mapping):
            raise InputError("synonyms", shown(self.synonyms), "words by variant, such as {'crimson': 'red'}")
        if not callable(self.match) and self.match not in ("exact", "contains"):
            expected = "'exact', 'contains', or a function of a target and a prediction"
            raise InputError("text.match", shown(self.match), expected)
        _ = self._replacements

    def normalise(self, text: str) -> str:
        """The text in that form."""
        return " ".join(self.words(text))

    def words(self, text: str) -> tuple[str, ...]:
        """The words of the text in that form."""
        return self._with_synonyms(self._plain_words(text))

    def clauses(self, text: str) -> list[tuple[str, ...]]:
        """The words of the text, by the parts that commas, full stops and other punctuation separate."""
        parts = _CLAUSE_ENDS.split(_without_thousands(_checked(text)))
        words = [self.words(part) for part in parts if any(map(str.isalnum, part))]
        return words or [self.words(text)]

    @cached_property
    def _replacements(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        """Variants and what they stand for, as words; a cycle or two meanings are refused."""
        pairs: dict[tuple[str, ...], tuple[str, ...]] = {}
        for variant, canonical in self.synonyms.items():
            for one in (variant, canonical):
                if not isinstance(one, str) or not one.strip():
                    raise InputError("synonyms", shown(one), "words, such as {'crimson': 'red'}")
            key, value = self._plain_words(variant), self._plain_words(canonical)
            if key == value:
                continue
            if pairs.get(key, value) != value:
                both = f"{' '.join(pairs[key])!r} and {' '.join(value)!r}"
                raise InputError("synonyms", f"{variant!r} for {both}"[:200], "one meaning for each variant")
            pairs[key] = value
        return {variant: _end_of_chain(variant, pairs) for variant in pairs}

    @cached_property
    def _longest_variant(self) -> int:
        return max(map(len, self._replacements), default=0)

    def _plain_words(self, text: str) -> tuple[str, ...]:
        text = _checked(text)
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text).translate(_VISIBLE)
        text = text.casefold() if self.case else text
        whole = tuple(text.split())
        found = whole
        if self.punctuation:
            text = _INITIALS.sub(lambda initials: initials[0].replace(".", ""), text) if "." in text else text
            text = _without_thousands(text).translate(_MARKS)
            found = tuple(part for word in text.split() for part in _word_parts(word))
            if not text.isascii() and any(word[-1].isalnum() for word in found):
                found = tuple(word for word in found if unicodedata.category(word[-1]) != "So")
        if self.articles:
            found = tuple(word for word in found if word.casefold() not in ARTICLES) or found
        found = found or whole
        return tuple(_with_digits(found)) if self.numbers else found

    def _with_synonyms(self, words: tuple[str, ...]) -> tuple[str, ...]:
        if not self._replacements:
            return words
        result: list[str] = []
        at = 0
        while at < len(words):
            for length in range(min(self._longest_variant, len(words) - at), 0, -1):
                known = self._replacements.get(words[at : at + length])
                if known is not None:
                    result += known
                    at += length
                    break
            else:
                result.append(words[at])
                at += 1
        return tuple(result)


def as_texts(field: str, values: Any) -> list[str | None]:
    """A column of free text, `None` where there is none; numbers and truth values as they are printed.

    Unlike names of levels, such text may be long.

    ```python
    >>> from recombine.data.text import as_texts
    >>> as_texts("prediction", ["a red cube", None, 3.0, True])
    ['a red cube', None, '3', 'True']

    ```
    """
    if isinstance(values, pl.Series):
        listed = values.to_list()
    elif isinstance(values, list | tuple):
        listed = list(values)
    else:
        array = np.asarray(values)
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != 1:
            raise InputError(field, f"shape {array.shape}", "one text for each row")
        listed = array.tolist()
    return [_one_text(field, value, row) for row, value in enumerate(listed, start=1)]


def _one_text(field: str, value: Any, row: int) -> str | None:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, float | np.floating) and np.isnan(value):
        return None
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if not isinstance(value, str | int | float | Decimal | date | np.generic):
        raise InputError(field, f"{type(value).__name__} in row {row}", "text in every row")
    text = str(value)
    if len(text) > MAX_TEXT_LENGTH:
        got = f"{len(text):,} characters in row {row}"
        raise InputError(field, got, f"text of at most {MAX_TEXT_LENGTH:,} characters")
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _checked(text: str) -> str:
    if len(text) > MAX_TEXT_LENGTH:
        got = f"{text[:40]}… ({len(text):,} characters)"
        raise InputError("text", got, f"text of at most {MAX_TEXT_LENGTH:,} characters")
    return text


def _without_thousands(text: str) -> str:
    """Large numbers without commas: 1,000 is 1000."""
    return _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text) if "," in text else text


def _word_parts(word: str) -> Iterator[str]:
    """A word without full stops and hyphens, unless they belong to a number: "light-blue." is two words."""
    if word.isalnum():
        yield word
        return
    stripped = word.rstrip(".-")
    if _DIGITS.fullmatch(stripped):
        yield stripped
        return
    yield from (part for part in re.split(r"[.-]+", word) if part)


def _with_digits(words: tuple[str, ...]) -> Iterator[str]:
    """Number words as digits ("twenty one" is 21, "two hundred" is 200), and 3.0 as 3."""
    at = 0
    while at < len(words):
        number, used = _number_from(words, at)
        if used:
            yield str(number)
            at += used
            continue
        word = words[at]
        if _DIGITS.fullmatch(word) and "." in word:
            word = word.rstrip("0").rstrip(".")
        yield word
        at += 1


def _number_from(words: tuple[str, ...], at: int) -> tuple[int, int]:
    """The number that words from a place on write, and how many words it takes; none if it is not a number."""
    number = _NUMBERS.get(words[at].casefold())
    if number is None:
        return 0, 0
    used = 1
    unit = _NUMBERS.get(words[at + 1].casefold(), 0) if at + 1 < len(words) else 0
    if number >= 20 and 1 <= unit <= 9:
        number, used = number + unit, 2
    if at + used < len(words) and words[at + used] in _SCALES:
        number, used = number * _SCALES[words[at + used]], used + 1
    return number, used


def _end_of_chain(
    variant: tuple[str, ...], pairs: Mapping[tuple[str, ...], tuple[str, ...]]
) -> tuple[str, ...]:
    passed = [variant]
    while passed[-1] in pairs:
        following = pairs[passed[-1]]
        if following in passed:
            chain = " → ".join(" ".join(one) for one in [*passed, following][:6])
            raise InputError("synonyms", chain[:200], "variants that lead to a word, not in a circle")
        passed.append(following)
    return passed[-1]
