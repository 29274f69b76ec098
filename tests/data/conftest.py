"""Nets whose modules are known, to be read from files."""

from tests.modularity.conftest import blocks

__all__ = ["blocks"]
