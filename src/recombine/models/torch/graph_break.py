"""The call that `torch.compile` leaves out of its graphs. Importing this loads Dynamo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch

Result = TypeVar("Result")


@torch.compiler.disable
def call_outside_graph(function: Callable[..., Result], *args: Any, **settings: Any) -> Result:
    """Calls the function as it is, between two graphs."""
    return function(*args, **settings)
