"""Configuration of the documentation site; ``make docs`` builds it, without network.

The source root is the repository, so that links between pages, reports and examples work on the site and in the
repository alike.
"""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

sys.path.insert(0, str(Path(__file__).parent))
from _contents import EXAMPLES

project = "kernelrank"
author = copyright = "The kernelrank developers"
version = release = version_of("kernelrank")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "_site",
]
root_doc = "docs/index"
include_patterns = ["docs/**", "experiments/**.md", "benchmarks/results/*.md", "CHANGELOG.md"]
exclude_patterns = ["build", "dist", "src", "cpp", "tests", "examples", ".*", "docs/_*", "docs/gallery/**/*.ipynb"]
templates_path = [str(Path(__file__).parent / "_templates")]  # for autosummary, which starts from the source root
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(array|sklearn|numpy|scipy|pandas|matplotlib|dask|threading|collections)\.?.*")]

# Pages
myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"
suppress_warnings = ["config.cache", "autosummary.import_cycle"]

# Docstrings
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False
numpydoc_validation_checks = set()  # tests/test_docstrings.py validates

# Examples
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    "backreferences_dir": "docs/api/examples",
    "doc_module": ("kernelrank",),
    "subsection_order": ExplicitOrder([f"examples/{section}" for section in EXAMPLES]),
    "within_subsection_order": ExplicitOrder([f"plot_{name}.py" for names in EXAMPLES.values() for name in names]),
    "image_srcset": ["2x"],
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 60,
    "write_computation_times": False,
}

# Appearance
html_theme = "pydata_sphinx_theme"
html_title = "kernelrank"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {"docs/index": [], "docs/getting-started": []}
html_copy_source = html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "kernelrank"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
