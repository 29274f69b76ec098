"""A remedy that an audit suggests, with code for the user's framework."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from textwrap import dedent


@dataclass(frozen=True)
class Remedy:
    """Something to try.

    **Attributes:**

    - `title`: what to do; `why`: the evidence for it.
    - `snippet`: code that runs where the names `net`, `x`, `y`, `loss` and `report` exist; may be empty.
    """

    id: str
    title: str
    why: str
    snippet: str

    def to_dict(self) -> dict[str, str]:
        """Plain values."""
        return asdict(self)


def lines(text: str) -> str:
    """Code without its common indentation."""
    return dedent(text).strip()
