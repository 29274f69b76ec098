"""Users' data: the only code that reads tables, arrays and weights from files and from memory, and checks them.

A table is a `DataTable` of `DataColumn`s; the different values of a column are `Levels`. Layers above turn them into a
space and a split (`recombine.spaces.observations`). Names are imported when they are used, because the code that reads
arrays does not need Polars.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recombine.data.archives import check_unpacked_size
    from recombine.data.array_files import read_array, read_arrays, read_xy
    from recombine.data.arrays import as_array, as_numbers
    from recombine.data.clusters import cluster_factor
    from recombine.data.columns import DataColumn, as_column
    from recombine.data.export import check_table_path, csv_bytes, write_table
    from recombine.data.levels import Levels, binned, levels_of
    from recombine.data.nets import NetArrays, natural, read_activations, read_net
    from recombine.data.synonyms import read_synonyms
    from recombine.data.tables import DataTable, read_table
    from recombine.data.text import TextScoring

_HOME_OF = {
    "DataColumn": "columns",
    "Levels": "levels",
    "NetArrays": "nets",
    "TextScoring": "text",
    "DataTable": "tables",
    "as_array": "arrays",
    "as_column": "columns",
    "as_numbers": "arrays",
    "binned": "levels",
    "check_table_path": "export",
    "check_unpacked_size": "archives",
    "cluster_factor": "clusters",
    "csv_bytes": "export",
    "levels_of": "levels",
    "natural": "nets",
    "read_activations": "nets",
    "read_array": "array_files",
    "read_arrays": "array_files",
    "read_net": "nets",
    "read_synonyms": "synonyms",
    "read_table": "tables",
    "read_xy": "array_files",
    "write_table": "export",
}

__all__ = [
    "DataColumn",
    "DataTable",
    "Levels",
    "NetArrays",
    "TextScoring",
    "as_array",
    "as_column",
    "as_numbers",
    "binned",
    "check_table_path",
    "check_unpacked_size",
    "cluster_factor",
    "csv_bytes",
    "levels_of",
    "natural",
    "read_activations",
    "read_array",
    "read_arrays",
    "read_net",
    "read_synonyms",
    "read_table",
    "read_xy",
    "write_table",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(import_module(f"recombine.data.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module 'recombine.data' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
