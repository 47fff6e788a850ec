"""Reports on small data, parsed."""

import json
from html.parser import HTMLParser

import numpy as np
import pytest

import kernelrank as kr
from kernelrank import report

VOID = {"input", "link", "meta"}


class Parsed(HTMLParser):
    """Elements of a page; fails on a tag that is not closed where it should be."""

    def __init__(self, text):
        super().__init__()
        self.text, self.elements, self._open = text, [], []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "attrs": dict(attrs), "text": "", "within": [each["tag"] for each in self._open]}
        assert len(element["attrs"]) == len(attrs)  # no attribute twice
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag):
        assert self._open.pop()["tag"] == tag

    def handle_data(self, data):
        for each in self._open:
            each["text"] += data

    def all(self, tag, **attrs):
        found = (each for each in self.elements if each["tag"] == tag)
        return [each for each in found if all(each["attrs"].get(k.rstrip("_")) == v for k, v in attrs.items())]

    @property
    def rows(self):
        """The rows that the script shows."""
        [script] = self.all("script", id="rows-data")
        return json.loads(script["text"], parse_constant=pytest.fail)

    def table(self, caption):
        """Return the texts of the cells of a table."""
        at = next(k for k, e in enumerate(self.elements) if e["tag"] == "caption" and e["text"] == caption)
        lines = []
        for each in self.elements[at + 1 :]:
            if each["tag"] == "table":
                break
            if each["tag"] == "tr":
                lines.append([])
            elif each["tag"] in ("th", "td"):
                lines[-1].append(each["text"])
        return lines


@pytest.fixture
def written(tmp_path):
    """Write a report, and return it parsed."""

    def write(model, X, y, **options):
        path = tmp_path / "report.html"
        assert report.write(model, X, y, path=path, **options) is None
        return Parsed(path.read_text(encoding="utf-8"))

    return write


@pytest.fixture
def graded():
    """Return rows of graded queries: 30 of them, of 4 to 11 rows."""
    rng = np.random.default_rng(0)
    qid = np.repeat([f"q{k}" for k in range(30)], rng.integers(4, 12, 30))
    X = rng.normal(size=(len(qid), 4))
    y = np.clip(np.rint(X @ [1.0, 0.5, 0.0, -0.5] + rng.normal(size=len(qid))), 0, 3)
    return X, y, qid


@pytest.fixture
def ranked(graded):
    X, y, qid = graded
    return kr.RankSVM().fit(X, y, qid=qid)
