"""The interface that the results of all entry points share."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from recombine.report.document import Document

if TYPE_CHECKING:
    from recombine.report.figures.style import Figure


class Report:
    """A result that can present itself: `str` for the terminal, `page()` for files, HTML in a notebook.

    Subclasses build their document once, in `document()`, and have a `to_dict()` of plain values.
    """

    @abstractmethod
    def document(self) -> Document:
        """What the report says; every other form is a rendering of it."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """One object of plain values, as `--json` prints it."""

    def page(self) -> Document:
        """The document, to be written: `report.page().write("report.html")`."""
        return self.document()

    def figure(self) -> Figure:
        """The report's main figure. Raises [`recombine.InputError`][] if there is nothing to draw."""
        from recombine.errors import InputError

        for picture in self.document().pictures():
            return picture.drawn
        raise InputError(
            "figure", type(self).__name__, "a report with a figure; this one has nothing to draw"
        )

    def __str__(self) -> str:
        return self.document().text()

    def _repr_html_(self) -> str:
        """In a notebook: the page in a frame, so that its style does not affect the notebook."""
        from html import escape

        page = escape(self.page().html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40rem; border: 0"></iframe>'
