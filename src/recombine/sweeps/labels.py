"""Swept values as they appear in frames, tables and figures."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from recombine.parts import Part
from recombine.runs.trial import as_part


def labels(values: Sequence[Any]) -> list[Any]:
    """Plain values as they are; parts by their function and the settings in which they differ.

    ```python
    >>> from recombine import Part
    >>> from recombine.sweeps.labels import labels
    >>> labels([64, 256]), labels([Part("a:mlp", width=8, depth=1), Part("a:mlp", width=9, depth=1)])
    ([64, 256], ['mlp(width=8)', 'mlp(width=9)'])
    >>> labels([Part("a:mlp", width=8), Part("a:convnet")]), labels([(), (1, 2)])
    (['mlp', 'convnet'], ['none', '1, 2'])

    ```
    """
    if not any(isinstance(value, tuple | Part) or dataclasses.is_dataclass(value) for value in values):
        return list(values)
    named = [_text(value, _peers(value, values)) for value in values]
    if len(set(named)) < len(named):  # they differ only in what a short label leaves out
        named = [_text(value, []) for value in values]
    return [text if named.count(text) == 1 else f"{text} #{i}" for i, text in enumerate(named)]


def _peers(value: Any, values: Sequence[Any]) -> list[Any]:
    """Values of the same function or class, the value itself included."""
    return [other for other in values if _head(other) == _head(value)]


def _head(value: Any) -> Any:
    value = as_part(value)
    return value.name if isinstance(value, Part) else type(value)


def _text(value: Any, peers: Sequence[Any]) -> str:
    """A label with the settings in which a value differs from its peers; without peers, with all settings."""
    value = as_part(value)
    if isinstance(value, tuple):
        return ", ".join(_text(item, []) for item in value) or "none"
    if not isinstance(value, Part) and not dataclasses.is_dataclass(value):
        return str(value)
    own = _settings(value)
    others = [_settings(peer) for peer in peers]
    shown = {
        name: setting
        for name, setting in own.items()
        if not others or any(name not in other or other[name] != setting for other in others)
    }
    head = value.name.rpartition(":")[2] if isinstance(value, Part) else type(value).__name__
    inner = ", ".join(f"{name}={_text(setting, [])}" for name, setting in shown.items())
    return f"{head}({inner})" if inner else head


def _settings(value: Any) -> dict[str, Any]:
    value = as_part(value)
    if isinstance(value, Part):
        return dict(value.settings)
    return {
        one.name: getattr(value, one.name)
        for one in dataclasses.fields(value)
        if getattr(value, one.name) != one.default
    }
