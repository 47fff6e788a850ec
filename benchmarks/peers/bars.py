"""The goals of this package for speed, memory and error, and whether a run meets them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.harness import Bar

Record = dict[str, Any]

# With fewer rows, what does not grow with them is a visible part of the memory.
_LARGE = (("text", 512_000), ("bipartite", 100_000))


class Records:
    """Records of a run that are looked up by competitor and problem."""

    def __init__(self, records: list[Record]) -> None:
        self.all = [record for record in records if record["status"] == "ok"]

    def find(self, who: str, workload: str, n_rows: int, loss: str, n_threads: int = 1) -> list[Record]:
        """Find all competitors whose name begins so: none, one, or several variants of one."""
        key = (workload, n_rows, loss, n_threads)
        names = ("workload", "n_rows", "loss", "n_threads")
        return [r for r in self.all if r["competitor"].startswith(who) and tuple(r[name] for name in names) == key]

    def get(self, field: str, who: str, *problem: Any, **more: Any) -> float | None:
        """Return the smallest value of a field, None if there is no record."""
        return min((r[field] for r in self.find(who, *problem, **more) if r[field] is not None), default=None)

    def ours(self, field: str, *problem: Any, **more: Any) -> float | None:
        """Return a field of kernelrank's record."""
        return self.get(field, "kernelrank", *problem, **more)

    def gap(self, record: Record) -> float | None:
        """Return the distance of a record's objective from the best lower bound of the optimum."""
        problem = (record["workload"], record["n_rows"], record["loss"])
        bounds = [r["lower_bound"] for r in self.find("kernelrank", *problem) if r["lower_bound"] is not None]
        return record["objective"] - max(bounds) if bounds and record["objective"] is not None else None


def judge(records: Records) -> list[Bar]:
    return [*_on_text(records), *_on_housing(records), *_on_levels(records), *_everywhere(records)]


def _on_text(records: Records) -> Iterator[Bar]:
    hinge, squared = ("text", 512_000, "hinge"), ("text", 512_000, "squared_hinge")
    yield Bar("hinge, text, 512,000 rows: u", _in_units(records, *hinge), 12)
    yield Bar("hinge, text, 512,000 rows: certified gap", records.ours("certified_gap", *hinge), 1e-3)
    yield Bar("squared hinge, text, 512,000 rows: u", _in_units(records, *squared), 30)
    gradient = records.ours("relative_gradient", *squared)
    yield Bar("squared hinge, text, 512,000 rows: relative gradient", gradient, 1e-3)
    for problem in (hinge, squared):
        one, two = records.ours("seconds", *problem), records.ours("seconds", *problem, n_threads=2)
        loss = problem[2].replace("_", " ")
        yield Bar(f"{loss}, text, 512,000 rows: gain of a second thread", _ratio(one, two), 1.5, at_least=True)


def _on_housing(records: Records) -> Iterator[Bar]:
    hinge, squared = ("housing", 16_000, "hinge"), ("housing", 16_000, "squared_hinge")
    peer = records.get("seconds", "scikit-survival", *squared)
    yield Bar("hinge, housing, 16,000 rows: u", _in_units(records, *hinge), 60)
    yield Bar("hinge, housing, 16,000 rows: certified gap", records.ours("certified_gap", *hinge), 1e-3)
    yield Bar("hinge, housing, 16,000 rows: counting passes", records.ours("passes", *hinge), 20)
    ratio = _ratio(peer, records.ours("seconds", *hinge))
    yield Bar(
        "hinge, housing, 16,000 rows: times faster than scikit-survival's squared hinge", ratio, 50, at_least=True
    )
    ratio = _ratio(peer, records.ours("seconds", *squared))
    yield Bar("squared hinge, housing, 16,000 rows: times faster than scikit-survival", ratio, 60, at_least=True)
    theirs, ours = records.get("objective", "scikit-survival", *squared), records.ours("objective", *squared)
    more = None if theirs is None or ours is None else ours - theirs
    yield Bar("squared hinge, housing, 16,000 rows: objective, less scikit-survival's", more, 0)
    for loss in ("hinge", "squared_hinge"):
        seconds = records.ours("seconds", "housing", 1_000, loss)
        milliseconds = None if seconds is None else 1e3 * seconds
        yield Bar(f"{loss.replace('_', ' ')}, housing, 1,000 rows: milliseconds", milliseconds, 10)


def _on_levels(records: Records) -> Iterator[Bar]:
    problem = ("queries", 60_002, "hinge")
    ours, fit = records.ours("seconds", *problem), records.get("seconds", "dlib", *problem)
    convert = records.get("convert_seconds", "dlib", *problem)
    yield Bar("hinge, queries: seconds, divided by those of dlib's fit alone", _ratio(ours, fit), 1)
    both = None if fit is None or convert is None else fit + convert
    name = "hinge, queries: times faster than dlib with its conversion"
    yield Bar(name, _ratio(both, ours), 5, at_least=True)
    problem = ("bipartite", 100_000, "hinge")
    ratio = _ratio(records.get("seconds", "dlib", *problem), records.ours("seconds", *problem))
    yield Bar("hinge, bipartite, 100,000 rows: times faster than dlib's fit", ratio, 8, at_least=True)


def _everywhere(records: Records) -> Iterator[Bar]:
    for loss in ("hinge", "squared_hinge"):
        large = [r for problem in _LARGE for r in records.find("kernelrank", *problem, loss)]
        memory = [bytes_ for r in large if (bytes_ := _bytes_per_row(r)) is not None]
        name = f"{loss.replace('_', ' ')}, text and bipartite: bytes per row beyond X and vectors of features"
        yield Bar(name, max(memory, default=None), 100)
    worse = [difference for r in records.all if (difference := _error_above_best_peer(records, r)) is not None]
    yield Bar("test error above that of the best peer with the same problem", max(worse, default=None), 0.002)


def _error_above_best_peer(records: Records, ours: Record) -> float | None:
    """Compare with those whose objective is near the optimum: only they have solved the same problem."""
    if ours["competitor"] != "kernelrank" or ours["n_threads"] > 1:
        return None
    problem = (ours["workload"], ours["n_rows"], ours["loss"])
    peers = [r for r in records.find("", *problem) if r["competitor"] != "kernelrank"]
    gaps = [(records.gap(r), r["test_error"]) for r in peers]
    errors = [error for gap, error in gaps if gap is not None and gap < 0.01]
    return ours["test_error"] - min(errors) if errors else None


def _bytes_per_row(record: Record) -> float | None:
    """Return the peak of memory beyond X per row, without the documented vectors of features."""
    if record["peak_bytes"] is None:
        return None
    stated = 8 * record["n_features"] * record["n_vectors"]
    return (record["peak_bytes"] - stated) / record["n_rows"]


def _in_units(records: Records, *problem: Any) -> float | None:
    return _ratio(records.ours("seconds", *problem), records.ours("u", *problem))


def _ratio(numerator: float | None, denominator: float | None) -> float | None:
    return None if numerator is None or denominator is None else numerator / denominator
