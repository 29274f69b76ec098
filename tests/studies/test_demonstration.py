"""The demo, at its smallest."""

import json

from recombine.studies.demonstration import METHODS, demonstrate


def test_the_demo_prints_a_table_and_writes_a_report(tmp_path):
    said = []
    out = tmp_path / "demo.html"
    evidence = demonstrate(out, scale="smoke", store=tmp_path / "store", jobs=0, say=said.append)
    text = "\n".join(said)
    assert set(evidence) == set(METHODS)
    for method in METHODS:
        assert method in text
    assert "error (blank picture = 1)" in text
    assert str(out) in text
    page = out.read_text(encoding="utf-8")
    assert page.count("<figure") == 5
    assert "http://" not in page.replace("http://www.w3.org", "")

    said.clear()
    demonstrate(out, scale="smoke", store=tmp_path / "store", jobs=0, as_json=True, say=said.append)
    assert set(json.loads(said[0])["methods"]) == set(METHODS)
