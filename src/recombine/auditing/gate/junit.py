"""The result of a gate as JUnit XML, which continuous integration shows as tests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from recombine.durable import write_file

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""


def junit_xml(reports: Mapping[str, AuditReport]) -> bytes:
    """One suite per model; a test per condition of the gate, or per finding if there is no gate.

    A condition that holds, or a finding that is bad news, is a failure. What could not be measured, is unclear or does
    not apply is skipped. A model that raised is an error.

    **Arguments:**

    - `reports`: by model; a single one by the name `""`. Their `gate` says what was checked.
    """
    suites = ElementTree.Element("testsuites", name="recombine audit")
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for model, report in reports.items():
        title = ": ".join(filter(None, ["recombine audit", report.table.name, model]))
        suite = ElementTree.SubElement(suites, "testsuite", name=_text(title))
        tests = [*_error(report), *(_findings(report) if report.gate is None else _conditions(report))]
        counted = dict.fromkeys(totals, 0) | {"tests": len(tests)}
        for name, tag, message in tests:
            place = f"recombine.audit.{report.table.name}" + (f".{model}" if model else "")
            case = ElementTree.SubElement(suite, "testcase", classname=_text(place), name=_text(name))
            if tag:
                counted[{"failure": "failures", "error": "errors", "skipped": "skipped"}[tag]] += 1
                first = message.strip().splitlines()[-1] if tag == "error" else message
                outcome = ElementTree.SubElement(case, tag, message=_text(first))
                if tag != "skipped":
                    outcome.set("type", tag)
                    outcome.text = _text(message)
            else:
                ElementTree.SubElement(case, "system-out").text = _text(message)
        for key, value in counted.items():
            suite.set(key, str(value))
            totals[key] += value
    for key, value in totals.items():
        suites.set(key, str(value))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True) + b"\n"


def write_junit(reports: Mapping[str, AuditReport], path: Path) -> None:
    """Writes the XML file, completely or not at all."""
    write_file(path, junit_xml(reports))


def _error(report: AuditReport) -> list[tuple[str, str, str]]:
    return [("the model runs", "error", report.model_error)] if report.model_error else []


def _conditions(report: AuditReport) -> list[tuple[str, str, str]]:
    assert report.gate is not None
    tags = {"failed": "failure", "passed": "", "not measured": "skipped"}
    return [(f"fail-on {one.condition}", tags[one.status], one.sentence) for one in report.gate.results]


def _findings(report: AuditReport) -> list[tuple[str, str, str]]:
    """Findings that are good or bad news; those that only describe a model cannot fail."""
    tests = []
    for one in report.findings:
        if one.good is None:
            continue
        tag = "skipped" if one.holds is None else "" if one.holds == one.good else "failure"
        tests.append((one.title if one.good else f"no {one.title}", tag, one.explanation))
    return tests


def _text(text: str) -> str:
    """Text that XML can hold: other characters are written as their code points."""
    return _NOT_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
