"""Files of synonyms: a JSON object, or two columns of a CSV or TSV file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from recombine.data.delimited import decoded
from recombine.data.files import existing_file
from recombine.errors import InputError

MAX_SYNONYM_BYTES = 16 * 2**20
"""Of a file of synonyms: a million pairs of short words."""
_EXPECTED = (
    'a JSON object such as {"crimson": "red"}, or a CSV or TSV file with two columns: variant, canonical'
)


def read_synonyms(path: Any) -> dict[str, str]:
    """What every variant stands for, from a file.

    A JSON object has variants as keys, `{"crimson": "red"}`, or lists of variants, `{"red": ["crimson", "scarlet"]}`. A
    CSV or TSV file has two columns, the variant and what it stands for; a first line `variant,canonical` is skipped.

    **Raises:**

    `recombine.InputError` if the file is damaged, or if a variant stands for two things.

    ```python
    >>> import tempfile
    >>> from pathlib import Path
    >>> from recombine.data import read_synonyms
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "synonyms.csv"
    ...     _ = file.write_text("variant,canonical\\ncrimson,red\\nsphere,ball\\n")
    ...     read_synonyms(file)
    {'crimson': 'red', 'sphere': 'ball'}

    ```
    """
    file = existing_file("synonyms", path, _EXPECTED)
    try:
        size = file.stat().st_size
        if size > MAX_SYNONYM_BYTES:
            raise InputError("synonyms", f"{file} of {size:,} bytes", f"at most {MAX_SYNONYM_BYTES:,} bytes")
        text = decoded("synonyms", str(file), file.read_bytes()).removeprefix("\ufeff")
    except OSError as error:
        raise InputError("synonyms", str(file), f"a file that can be read ({error.strerror})") from None
    if file.suffix.lower() == ".json" or text.lstrip().startswith("{"):
        pairs = _from_json(file, text)
    else:
        pairs = _from_columns(file, text)
    synonyms: dict[str, str] = {}
    for variant, canonical in pairs:
        if synonyms.get(variant, canonical) != canonical:
            got = f"{variant!r} for {synonyms[variant]!r} and {canonical!r}"
            raise InputError("synonyms", got[:200], "one meaning for each variant")
        synonyms[variant] = canonical
    if not synonyms:
        raise InputError("synonyms", f"{file} without synonyms", _EXPECTED)
    return synonyms


def _from_json(file: Path, text: str) -> list[tuple[str, str]]:
    try:
        # Pairs, not a dictionary, which would forget the first of two meanings of a variant.
        pairs = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:80]
        raise InputError("synonyms", str(file), f"{_EXPECTED} ({reason})") from None
    result = []
    for pair in pairs if isinstance(pairs, list) else [None]:
        key, value = pair if isinstance(pair, tuple) else (None, None)
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(key, str) or not isinstance(one, str) or not key.strip() or not one.strip():
                raise InputError("synonyms", f"{str(pair)[:80]} in {file}", _EXPECTED)
            result.append((one, key) if isinstance(value, list) else (key, one))
    return result


def _from_columns(file: Path, text: str) -> list[tuple[str, str]]:
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    delimiter = next((sign for sign in ("\t", ";") if sign in first), ",")
    result: list[tuple[str, str]] = []
    try:
        for number, row in enumerate(csv.reader(lines, delimiter=delimiter, strict=True), start=1):
            cells = [cell.strip() for cell in row]
            if not any(cells) or (
                not result and [cell.lower() for cell in cells] == ["variant", "canonical"]
            ):
                continue
            if len(cells) != 2 or not all(cells) or "\0" in "".join(cells):
                shown = delimiter.join(cells)[:80]
                raise InputError("synonyms", f"line {number} of {file}: {shown!r}", _EXPECTED)
            result.append((cells[0], cells[1]))
    except csv.Error as error:
        raise InputError("synonyms", str(file), f"{_EXPECTED} ({error})") from None
    return result
