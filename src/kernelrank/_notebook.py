"""Results and fitted estimators in notebooks: mixins that show them as HTML, and the frame with its style sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kernelrank._html import Markup

# Colours of text and lines are those around it, in a light or a dark notebook; the others are readable on both.
# Notebooks have styles of their own for tables, which are more specific: hence !important.
_STYLE = """
.kernelrank{--kr-line:#2f7fd1;--kr-other:#d55e00;color:inherit;display:flex;flex-wrap:wrap;align-items:flex-start;
gap:.5em 2em;margin:.6em 0;max-width:62em;line-height:1.4}
.kernelrank>*{margin:0!important;min-width:0;max-width:100%}
.kernelrank p{flex-basis:100%;font-size:.92em}
.kernelrank .scroll{overflow-x:auto}
.kernelrank table{border:none;border-collapse:collapse;margin:0!important;table-layout:auto;font-size:.92em;
font-variant-numeric:tabular-nums}
.kernelrank caption{caption-side:top;text-align:left;font-weight:600;padding:0 0 .3em;color:inherit}
.kernelrank th,.kernelrank td{text-align:left!important;vertical-align:middle;padding:.2em .8em!important;border:none;
border-bottom:1px solid rgba(128,128,128,.35)!important;max-width:26em!important;overflow-wrap:anywhere}
.kernelrank th:first-child{padding-left:.1em!important}
.kernelrank th{font-weight:600}
.kernelrank th[scope=row]{font-weight:normal}
.kernelrank .n{text-align:right!important;white-space:nowrap}
.kernelrank svg{display:block;height:auto;overflow:visible}
.kernelrank svg.chart{width:360px;max-width:100%}
.kernelrank svg.small{width:140px}
.kernelrank text{fill:currentColor;font-size:11px;opacity:.85}
.kernelrank .axis{stroke:currentColor;stroke-width:1;opacity:.25}
.kernelrank .chance{stroke:currentColor;stroke-width:1.3;stroke-dasharray:4 3;opacity:.8}
.kernelrank .observed{stroke:currentColor;stroke-width:2}
.kernelrank .line{fill:none;stroke:var(--kr-line);stroke-width:2}
.kernelrank .line.other{stroke:var(--kr-other);stroke-dasharray:6 3}
.kernelrank .interval{stroke:var(--kr-line);stroke-width:3}
.kernelrank .fill,.kernelrank .plus{fill:var(--kr-line)}
.kernelrank .minus{fill:var(--kr-other)}
.kernelrank .band{fill:var(--kr-line);opacity:.2}
.kernelrank .rest{fill:var(--kr-other);opacity:.4}
.kernelrank .frame{fill:none;stroke:currentColor;opacity:.6}
"""

_LONGEST = 300  # of a message


class ShowsResult:
    """Mixin for results: a table and a small picture in notebooks; a subclass provides ``_html``."""

    def _html(self) -> Iterable[Markup]:
        """Return the parts to show."""
        raise NotImplementedError

    def _repr_html_(self) -> str | None:
        """Return the result as HTML for a notebook; None if scikit-learn is set to display text."""
        from sklearn import get_config

        return frame(self._html) if get_config()["display"] == "diagram" else None


class ShowsFit:
    """Mixin for estimators: results of the fit below scikit-learn's diagram; a subclass provides ``_html_of_fit``."""

    def _html_of_fit(self) -> Iterable[Markup]:
        """Return the parts to show; none before a fit."""
        raise NotImplementedError

    @property
    def _repr_html_(self) -> Any:
        """Function that returns the HTML; an AttributeError if scikit-learn is set to display text."""
        diagram = super()._repr_html_  # type: ignore[misc]
        return lambda: diagram() + frame(self._html_of_fit)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Return the representations for a notebook."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += frame(self._html_of_fit)
        return bundle


def parts_of_fit(estimator: Any) -> list[Markup]:
    """Return what is shown of the fit of an estimator, or of the last step of a pipeline."""
    last = estimator.steps[-1][1] if getattr(estimator, "steps", None) else estimator
    return list(last._html_of_fit()) if isinstance(last, ShowsFit) else []


def frame(show: Callable[[], Iterable[Markup]]) -> str:
    """Return the parts of a result beside each other, with their style sheet; nothing if there are none.

    If making them raises an error, as it may after attributes or parameters were changed, the error is shown instead.
    """
    from kernelrank._html import Markup, shorten, tag

    try:
        shown = list(show())
    except Exception as error:
        shown = [tag("p", f"Not shown: {type(error).__name__}: {shorten(str(error), _LONGEST)}")]
    # Each output has its own style sheet, because any of them may be deleted or copied to another notebook.
    return str(tag("div", tag("style", Markup(_STYLE)), *shown, class_="kernelrank")) if shown else ""


def facts(rows: Iterable[Sequence[Any]], caption: str) -> Markup:
    """Return a table of names and values."""
    from kernelrank._html import tag

    lines = [tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in rows]
    return tag("table", tag("caption", caption), tag("tbody", *lines))
