"""Contents of the site: the order of pages and examples. Pages stay plain Markdown, without directives."""

# The pages below each page, by caption. Reports of benchmarks and studies are linked from the pages that cite them.
CONTENTS: dict[str, dict[str, list[str]]] = {
    "docs/index": {
        "": [
            "getting-started",
            "guide",
            "Examples <gallery/index>",
            "api/index",
            "mathematics/index",
            "reference",
        ]
    },
    "docs/guide": {
        "Rank": [
            *("queries", "measured-values", "comparisons", "clicks", "survival", "relational"),
            *("Relations in text, and graphs <graphs>", "datasets"),
        ],
        "Choose and judge": [
            *("tuning", "metrics", "ndcg", "maximise-auc", "auc", "inspection", "plots", "report", "notebooks"),
        ],
        "Methods": ["objective", "least-squares", "kernels", "pipelines"],
        "Grow and deploy": ["machines", "scaling", "deploy", "export"],
        "Move": ["coming-from"],
    },
    "docs/mathematics/index": {
        "": [
            *("counting", "cutting-planes", "newton", "least-squares", "hold-outs", "greedy", "nystrom"),
            *("graph-kernel", "relational", "censored", "auc", "ordinal", "clustering"),
        ]
    },
    "docs/reference": {
        "": [
            *("command-line", "Benchmarks <benchmarks>", "reproduction", "guarantees", "model-format", "development"),
            *("/experiments/README", "/CHANGELOG"),
        ],
    },
}

# The order of the examples in each section of the gallery.
EXAMPLES: dict[str, list[str]] = {
    "basics": ["first_ranking", "alpha_path", "coefficients", "queries", "table", "preferences"],
    "judging": ["pooling_bias", "tournament_roc", "permutation", "compare", "learning_curve"],
    "methods": ["kernels", "random_features", "greedy_selection", "ordinal", "clustering"],
    "structured": ["survival", "clicks", "propensities", "relational", "sentence_graph"],
    "using": ["explanation", "exports"],
}
