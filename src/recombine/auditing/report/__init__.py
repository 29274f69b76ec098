"""The report of an audit: one document, from which the terminal, pages and notebooks are rendered.

`audit_document` puts it together; every other file has one section of it, with its tables, figures and sentences.
"""

from recombine.auditing.report.audit_document import audit_document

__all__ = ["audit_document"]
