"""From records to tables and plots, also those in the documentation.

``python -m benchmarks.peers.report build/peers`` writes the report of an earlier run again; ``--docs`` puts it into
``docs/benchmarks.md`` too, between the two comments that mark its place there.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import Bar, table
from benchmarks.peers.bars import Record, Records, judge
from benchmarks.peers.workloads import WORKLOADS

DOCS = Path(__file__).parents[2] / "docs"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"

HEADING = (
    *("who", "rows", "fit s", "convert s", "fit u", "objective", "gap", "certified", "gradient"),
    *("test error", "iterations", "passes", "bytes/row"),
)


def write(results: dict[str, Any], folder: Path, docs: bool = False) -> str:
    """Write ``results.md`` and the plots; return the text."""
    records = Records(results["records"])
    text = as_markdown(results, draw(records, folder), "")
    (folder / "results.md").write_text(text + "\n")
    if docs:
        plots = draw(records, DOCS / "benchmarks")
        page = DOCS / "benchmarks.md"
        page.write_text(insert(page.read_text(), as_markdown(results, plots, "benchmarks/")))
    return text


def insert(page: str, text: str) -> str:
    """Replace the text between the two marks."""
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"the page must have the lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def draw(records: Records, folder: Path) -> dict[str, Path]:
    """Plot seconds over rows for each workload with several sizes, if matplotlib is there."""
    names = [name for name in WORKLOADS if len({r["n_rows"] for r in records.all if r["workload"] == name}) > 2]
    if not names or importlib.util.find_spec("matplotlib") is None:
        return {}
    from benchmarks.peers.plots import plot_scaling

    folder.mkdir(parents=True, exist_ok=True)
    return {name: plot_scaling(records, WORKLOADS[name], folder / f"{name}.svg") for name in names}


def as_markdown(results: dict[str, Any], plots: dict[str, Path], where: str) -> str:
    records = Records(results["records"])
    parts = [describe(results), "### Bars", bars_table(judge(records))]
    for name, work in WORKLOADS.items():
        measured = [record for record in results["records"] if record["workload"] == name]
        for loss in ("hinge", "squared_hinge"):
            rows = [as_cells(record, records) for record in measured if record["loss"] == loss]
            if rows:
                title = f"### {work.title}, {loss.replace('_', ' ')} (alpha {work.alpha:g})"
                parts += [title, table(*without_empty_columns(HEADING, rows))]
        if name in plots:
            parts.append(f"![Seconds over rows, {work.title}]({where}{plots[name].name})")
    parts += ["### Conversions", conversions_table(results["conversions"])]
    return "\n\n".join(parts)


def describe(results: dict[str, Any]) -> str:
    versions = ", ".join(f"{package} {version}" for package, version in results["versions"].items())
    lines = [f"Command: `{results['command']}`", *results["machine"].splitlines(), versions, *results["left_out"]]
    return "\n".join(f"- {line}" for line in lines)


def bars_table(bars: list[Bar]) -> str:
    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.3g}"

    rows = [(bar.name, number(bar.value), f"{'≥' if bar.at_least else '≤'} {bar.bar:g}", bar.verdict) for bar in bars]
    return table(("what", "measured", "bar", "verdict"), rows)


def as_cells(record: Record, records: Records) -> list[str]:
    threads = record["n_threads"]
    name = record["competitor"] if threads == 1 else f"{record['competitor']}, {threads} threads"
    start = [name, f"{record['n_rows']:,}"]
    if record["status"] != "ok":
        return [*start, f"{record['status']}: {record['reason']}", *[""] * (len(HEADING) - 3)]

    def cell(value: float | None, form: str) -> str:
        return "" if value is None else f"{value:{form}}"

    peak = record["peak_bytes"]
    return [
        *start,
        *(f"{record['seconds']:.3g}", f"{record['convert_seconds']:.2g}" if record["convert_seconds"] > 1e-4 else ""),
        f"{record['seconds'] / record['u']:,.1f}",
        *(cell(record["objective"], ".6f"), cell(records.gap(record), ".1e"), cell(record["certified_gap"], ".1e")),
        cell(record["relative_gradient"], ".1e"),
        f"{record['test_error']:.4f}",
        cell(record["iterations"], "d") + ("" if record["converged"] else " (not converged)"),
        cell(record["passes"], "d"),
        cell(None if peak is None else peak / record["n_rows"], ",.0f"),
    ]


def without_empty_columns(heading: Sequence[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    used = [i for i in range(len(heading)) if any(row[i] for row in rows)]
    return [heading[i] for i in used], [[row[i] for i in used] for row in rows]


def conversions_table(conversions: list[Record]) -> str:
    rows = [
        (c["competitor"], c["data"], c["loss"].replace("_", " "), f"{c['excess']:.1e}", f"{c['distance']:.1e}")
        for c in conversions
    ]
    return table(("who", "data", "loss", "objective, less ours", "relative distance of weights"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers.report", description="Write the report again.")
    parser.add_argument("folder", type=Path, help="where the run has put its results.json")
    parser.add_argument("--docs", action="store_true", help="also into docs/benchmarks.md")
    options = parser.parse_args()
    print(write(json.loads((options.folder / "results.json").read_text()), options.folder, options.docs))


if __name__ == "__main__":
    main()
