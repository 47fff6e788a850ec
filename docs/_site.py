"""Extension of Sphinx for this site: contents, formulas as MathML, links to examples and to the API, a first page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from _contents import CONTENTS
from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.nodes import make_refnode

logger = logging.getLogger(__name__)
_EXAMPLE = re.compile(r"\]\((?:\.\./)+examples/(\w+/plot_\w+)\.py\)")
_REPORT = re.compile(r"benchmarks/|experiments/.*/")
_LINK = re.compile(r"\]\(([\w./-]+)\)")
_FIRST = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{0}</title><meta http-equiv="refresh" content="0; url={1}">
<a href="{1}">{0}</a></html>
"""


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension."""
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math, None))
    app.connect("autodoc-skip-member", _skip_inherited)
    app.connect("source-read", _adapt_links)
    app.connect("source-read", _add_contents)
    app.connect("doctree-resolved", _link_names)
    app.connect("build-finished", _write_first_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _visit_math(translator: Any, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML, which browsers show without a script."""
    block = isinstance(node, nodes.math_block)
    try:
        formula = tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        formula = translator.encode(node.astext())
    translator.body.append(f'<div class="math">{formula}</div>\n' if block else formula)
    raise nodes.SkipNode


def _skip_inherited(app: Sphinx, kind: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods of other packages' classes, and attributes, which the text of a class describes."""
    if kind == "attribute":
        return True
    if kind in ("method", "property"):
        function = getattr(member, "fget", getattr(member, "func", member))
        return not (getattr(function, "__module__", None) or "").startswith("kernelrank") or None
    return None


def _adapt_links(app: Sphinx, name: str, content: list[str]) -> None:
    """Link pages of the gallery instead of the sources of examples, and pages in folders instead of folders."""
    up, folder = "../" * name.count("/"), Path(app.srcdir, name).parent

    def link(match: re.Match[str]) -> str:
        return f"]({match[1].rstrip('/')}/README.md)" if (folder / match[1] / "README.md").exists() else match[0]

    text = _EXAMPLE.sub(rf"]({up}docs/gallery/\1.rst)", content[0]).replace("](../examples)", "](gallery/index.rst)")
    content[0] = _LINK.sub(link, text)
    content[0] = content[0].replace("\n\n```\n", "\n```\n")  # doctests end with an empty line


def _add_contents(app: Sphinx, name: str, content: list[str]) -> None:
    """Append the contents of a page; reports have no place in the contents."""
    if _REPORT.match(name):
        content[0] = f"---\norphan: true\n---\n{content[0]}"
    for caption, pages in CONTENTS.get(name, {}).items():
        lines = [
            "```{toctree}",
            ":hidden:",
            ":glob:",
            *([f":caption: {caption}"] if caption else []),
            "",
            *pages,
            "```",
        ]
        content[0] += "\n" + "\n".join(lines) + "\n"


def _link_names(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Link public names in code font, such as ``RankSVM`` or ``metrics.ndcg``, and pages, to their places."""
    if not name.startswith("docs/") or name.startswith("docs/gallery/"):
        return
    objects = app.env.domains["py"].data["objects"]
    names = {} if name.startswith("docs/api/") else _unambiguous(objects)  # docstrings link what they mean to
    for literal in list(doctree.findall(nodes.literal)):
        if isinstance(literal.parent, nodes.reference | nodes.title):
            continue
        text = literal.astext().removesuffix("()")
        if (page := text.removesuffix(".md")) != text and page in app.env.found_docs:
            title = app.env.titles[page].astext()
            literal.replace_self(make_refnode(app.builder, name, page, "", nodes.Text(title), title))
        elif found := names.get(text):
            entry = objects[found]
            link = make_refnode(app.builder, name, entry.docname, entry.node_id, literal.deepcopy(), found)
            literal.replace_self(link)


def _unambiguous(objects: dict[str, Any]) -> dict[str, str]:
    """Return the full name for each ending that only one public name has; methods and modules need two words."""
    found: dict[str, set[str]] = {}
    for full, entry in objects.items():
        parts = full.split(".")
        if entry.aliased:  # the place of the definition, in a private module
            continue
        shortest = 2 if entry.objtype in ("method", "property", "attribute", "module") else 1
        for k in range(shortest, len(parts) + 1):
            # The estimators of single machines are meant, if not those of Dask are named.
            if k == len(parts) or not full.startswith("kernelrank.dask."):
                found.setdefault(".".join(parts[-k:]), set()).add(full)
    return {ending: min(full) for ending, full in found.items() if len(full) == 1}


def _write_first_page(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        text = _FIRST.format(app.config.project, app.builder.get_target_uri(app.config.root_doc))
        Path(app.outdir, "index.html").write_text(text)
