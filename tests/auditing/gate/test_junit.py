"""JUnit XML, as continuous integration reads it."""

from xml.etree import ElementTree

import numpy as np
from tests.auditing.gate.tables import SEEN, TRUTH, audited, composing, failing

from recombine.auditing.gate import junit_xml, write_junit


def parsed(reports):
    return ElementTree.fromstring(junit_xml(reports))


def test_a_test_per_condition():
    root = parsed({"": failing().gated("does-not-compose, unseen > 0.3, seen > 0.3")})
    assert root.tag == "testsuites"
    (suite,) = root
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    assert [case.get("name") for case in suite] == [
        "fail-on does-not-compose",
        "fail-on unseen > 0.3",
        "fail-on seen > 0.3",
    ]
    assert [child.tag for case in suite for child in case] == ["failure", "failure", "system-out"]


def test_a_test_per_finding_without_conditions():
    root = parsed({"": composing()})
    tags = {case.get("name"): [child.tag for child in case] for case in root[0]}
    assert tags["composes"] == ["system-out"]
    assert tags["no superposition"] == ["skipped"]
    assert root.get("failures") == "0"
    assert int(parsed({"": failing()}).get("failures")) >= 1


def test_what_cannot_be_measured_is_skipped():
    seen = np.ones_like(SEEN)
    seen[10] = False
    root = parsed({"": audited(np.where(seen, TRUTH, 0.0), seen=seen).gated("unseen > 0.1")})
    assert [child.tag for child in root[0][0]] == ["skipped"]


def test_names_are_escaped(tmp_path):
    both = audited({'<b>&"': TRUTH, "]]>é": np.where(SEEN, TRUTH, 0.0)}).gated("does-not-compose")
    root = parsed(both.reports)
    assert [suite.get("name") for suite in root] == [
        'recombine audit: the table: <b>&"',
        "recombine audit: the table: ]]>é",
    ]
    write_junit(both.reports, tmp_path / "junit.xml")
    assert ElementTree.parse(tmp_path / "junit.xml").getroot().get("tests") == "2"
    assert len(list(tmp_path.iterdir())) == 1


def test_characters_that_xml_cannot_hold_are_written_as_code_points():
    from dataclasses import replace

    report = replace(failing(), table=replace(failing().table, name="a\x00b\x1b[0m\ufffe"))
    assert parsed({"": report})[0].get("name") == "recombine audit: a\\x00b\\x1b[0m\\xfffe"
