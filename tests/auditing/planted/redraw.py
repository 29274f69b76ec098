"""Asking for another draw."""

from __future__ import annotations

import numpy as np


class Redraw(Exception):  # noqa: N818
    """This draw does not show what it is meant to show."""


def insist(*conditions: bool | np.bool_) -> None:
    """Asks for another draw unless all hold."""
    if not all(conditions):
        raise Redraw
