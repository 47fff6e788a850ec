"""Contents of the site: the pages below each page, by caption. Pages stay plain Markdown, without directives."""

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
            *("command-line", "benchmarks", "reproduction", "guarantees", "model-format", "development"),
            "/CHANGELOG",
        ],
        "Reports of benchmarks": ["/benchmarks/results/*"],
        "Reports of studies": [
            *("/experiments/README", "/experiments/*/README", "/experiments/*/results", "/experiments/*/results/*"),
        ],
    },
}
