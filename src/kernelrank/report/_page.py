"""The page: its parts in order, with style, script and the rows for the script."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank._html import Markup, as_json, escape, join, tag
from kernelrank.inspection import LearningCurve
from kernelrank.report._advice import Advice
from kernelrank.report._data import Facts
from kernelrank.report._metrics import Measured
from kernelrank.report._rows import Shown
from kernelrank.report._subject import Subject
from kernelrank.report._trust import Trust


@dataclass(frozen=True)
class Report:
    """Contents of a report."""

    subject: Subject
    title: str
    confidence: float
    facts: Facts
    measured: list[Measured]
    advice: list[Advice]
    order: NDArray[np.intp]
    shown: Shown
    trust: Trust | None
    curve: LearningCurve | str | None


# The page may use its own style and script, and nothing else; the browser enforces it.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none';"
    " form-action 'none'"
)


def make_page(report: Report) -> str:
    """Return the report as HTML."""
    from kernelrank.report._sections import SECTIONS

    made = [(name, heading, make(report)) for name, heading, make in SECTIONS]
    parts = [(name, heading, content) for name, heading, content in made if content is not None]
    links = [tag("li", tag("a", heading, href=f"#{name}")) for name, heading, _ in parts]
    sections = [tag("section", tag("h2", heading, id=name), content) for name, heading, content in parts]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("link", rel="icon", href="data:,"),
        tag("title", report.title),
        tag("style", Markup(_read("report.css"))),
    )
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#report", class_="skip"),
        tag("header", tag("h1", report.title), tag("nav", tag("ul", *links), aria_label="Parts of the report")),
        tag("main", *sections, id="report", tabindex="-1"),
        tag(
            "footer",
            tag("p", "Written by kernelrank. This file contains rows of the data: share it as you would them."),
        ),
        tag("script", as_json(_for_script(report)), type="application/json", id="rows-data"),
        tag("script", Markup(_read("report.js"))),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, body, lang="en") + "\n"


def _read(name: str) -> str:
    return files("kernelrank.report").joinpath(name).read_text(encoding="utf-8")


def _for_script(report: Report) -> dict[str, Any]:
    """Return the rows that the script shows and compares."""
    subject, shown = report.subject, report.shown
    rows = shown.rows
    codes = subject.codes[rows].tolist()
    used = list(dict.fromkeys(codes))
    return {
        "names": {str(code): subject.name_query(code) for code in used},
        "byQuery": subject.ids is not None,
        "features": shown.features,
        "rows": [
            [int(row) + 1, code, *(_digits(each) for each in numbers), int(rank), int(wrong)]
            for row, code, *numbers, rank, wrong in zip(
                rows,
                codes,
                subject.y[rows],
                subject.scores[rows],
                subject.ranks[rows],
                subject.wrong[rows],
                strict=True,
            )
        ],
        "values": shown.values,
        "parts": None if shown.parts is None else [[_digits(each) for each in row] for row in shown.parts],
    }


def _digits(value: Any) -> float:
    """Return a number with the digits that the page can show."""
    return float(f"{value:.7g}")


def paragraphs(*texts: Any) -> Markup:
    """Return paragraphs."""
    return join(tag("p", escape(text)) for text in texts)
