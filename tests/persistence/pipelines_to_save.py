"""Pipelines of all transformers that a model file can hold, with the rows that they are fitted to."""

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    f_regression,
    r_regression,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from kernelrank import GreedyRLS, NystromMap, RankingClassifier, RankRLS, RankSVM
from kernelrank.model_selection import FScoreClassifier
from kernelrank.pipelines import RankingPipeline, make_query_pipeline

SIZE = 40


def numbers(missing=False):
    """Return rows of numbers, some of which may be missing."""
    X = np.random.default_rng(5).normal(size=(SIZE, 3))
    if missing:
        X[0, 0] = X[3, 1] = np.nan
    return X


def targets():
    return np.round(numbers() @ [1.0, 2.0, 3.0])


def table(**columns):
    """Return a data frame with numbers, categories and texts, and missing values in the first and third column."""
    rng, X = np.random.default_rng(6), numbers(missing=True)
    return pd.DataFrame(
        {
            "price": X[:, 0],
            "shop": rng.choice(["x", "y", "größer"], SIZE).astype(object),
            "kind": rng.choice(np.array(["p", "q", None], dtype=object), SIZE),
            "stars": X[:, 2],
            "floor": rng.integers(0, 4, SIZE),
            "text": np.resize(["a dog ran", "the cat", "hello cat dog", "dog dog the"], SIZE).astype(object),
        }
    ).assign(**columns)


def columns(**parameters):
    """Return a column transformer of nested pipelines, texts and a part that is dropped."""
    return ColumnTransformer(
        [
            ("number", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["price", "stars"]),
            ("category", OneHotEncoder(handle_unknown="ignore"), ["shop", "kind"]),
            ("dropped", "drop", ["floor"]),
            ("text", TfidfVectorizer(), "text"),
        ],
        **parameters,
    )


def _of_numbers():
    scalers = [StandardScaler(with_mean=mean, with_std=std) for mean in (True, False) for std in (True, False)]
    return [
        *scalers,
        *(MinMaxScaler(), MinMaxScaler((-1, 1), clip=True), MaxAbsScaler(), RobustScaler()),
        *(RobustScaler(with_centering=False, quantile_range=(10.0, 90.0)), FunctionTransformer(), "passthrough"),
        *(PolynomialFeatures(2), PolynomialFeatures((2, 3)), TruncatedSVD(2, random_state=0), VarianceThreshold(0.1)),
        PolynomialFeatures(2, interaction_only=True, include_bias=False),
        *(SelectKBest(f_regression, k=2), SelectKBest(r_regression, k="all"), SelectPercentile(f_regression)),
        *(SelectFromModel(RankSVM()), SelectFromModel(RankRLS(), max_features=2, threshold=-np.inf)),
        *(NystromMap(n_basis=4), NystromMap("polynomial"), GreedyRLS(2)),
    ]


def _of_categories():
    return [
        *(OneHotEncoder(), OneHotEncoder(drop="first"), OneHotEncoder(drop="if_binary", sparse_output=False)),
        *(OneHotEncoder(drop=["x", 0], dtype=float), OneHotEncoder(max_categories=2, drop="first", dtype=np.float32)),
        OneHotEncoder(min_frequency=12, handle_unknown="infrequent_if_exist"),
        OneHotEncoder(categories=[["größer", "y", "x"], [0, 1, 2, 3]]),
        *(OrdinalEncoder(dtype=np.int32), OrdinalEncoder(max_categories=2, dtype=int)),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
    ]


def _of_texts():
    return [
        *(
            CountVectorizer(),
            CountVectorizer(vocabulary={"cat": 0, "dog": 1}),
            CountVectorizer(vocabulary=["a", "dog"]),
        ),
        CountVectorizer(analyzer="char_wb", ngram_range=(2, 3), dtype=np.float32, binary=True),
        TfidfVectorizer(stop_words=["the"], ngram_range=(1, 2), max_features=4),
        TfidfVectorizer(stop_words="english", use_idf=False, strip_accents="unicode"),
        make_pipeline(CountVectorizer(), TfidfTransformer(), TruncatedSVD(2, random_state=0), StandardScaler()),
    ]


def _name(step):
    return step if isinstance(step, str) else type(step).__name__


def pipelines():
    """Return unfitted pipelines with the rows that they are fitted to, by name."""
    X, holes, rows = numbers(), numbers(missing=True), table()
    mixed = table(kind=np.resize(np.array([None, "q", np.nan, "z"], dtype=object), SIZE))
    found = {f"numbers {k} {_name(each)}": (make_pipeline(each, RankSVM()), X) for k, each in enumerate(_of_numbers())}
    for k, each in enumerate(_of_categories()):
        found[f"categories {k} {_name(each)}"] = make_pipeline(each, RankSVM()), rows[["shop", "floor"]]
    for k, each in enumerate(_of_texts()):
        found[f"texts {k} {_name(each)}"] = make_pipeline(each, MaxAbsScaler(), RankSVM()), list(rows["text"])
    for strategy in ("mean", "median", "most_frequent", "constant"):
        imputer = SimpleImputer(strategy=strategy, add_indicator=True, keep_empty_features=True)
        found[f"imputed by {strategy}"] = make_pipeline(imputer, RankSVM()), holes
    positive = sp.csr_matrix(X * (X > 0))
    kinds = ["shop", "kind"]
    missing_last = OrdinalEncoder(max_categories=2, encoded_missing_value=-7)
    all_columns, queried = columns(remainder="passthrough", sparse_threshold=0), table(qid=np.arange(SIZE) // 8)
    by_number = ColumnTransformer([("c", OrdinalEncoder(), [1, -2]), ("s", MinMaxScaler(), slice(3, 5))])
    by_mask = ColumnTransformer(
        [("c", OrdinalEncoder(), np.arange(6) == 1), ("s", RobustScaler(), slice("stars", "floor"))],
        verbose_feature_names_out=False,
        transformer_weights={"s": 2.0},
    )
    with_rest = ColumnTransformer(
        [("c", OneHotEncoder(), [*kinds, "text"]), ("none", StandardScaler(), []), ("i", "passthrough", ["stars"])],
        remainder=SimpleImputer(strategy="most_frequent"),
    )
    as_frame = ColumnTransformer(
        [("c", OrdinalEncoder(), ["shop", "floor"]), ("s", MinMaxScaler(), ["stars"])],
        verbose_feature_names_out="{feature_name} ({transformer_name})",
    ).set_output(transform="pandas")
    found |= {
        "float32": (make_pipeline(StandardScaler(), RankSVM()), X.astype(np.float32)),
        "sparse": (make_pipeline(MaxAbsScaler(), PolynomialFeatures(2), RankSVM()), positive),
        "missing": (make_pipeline(StandardScaler(), SimpleImputer(strategy="median"), RankSVM()), holes),
        "missing categories": (make_pipeline(OneHotEncoder(), RankSVM()), mixed[kinds]),
        "missing, infrequent": (make_pipeline(missing_last, RankSVM()), rows[kinds].fillna(np.nan)),
        "NumPy's strings": (make_pipeline(OneHotEncoder(), RankSVM()), rows[["text", "text"]].to_numpy().astype(str)),
        "booleans": (make_pipeline(OneHotEncoder(), RankSVM()), X > 0),
        "columns": (make_pipeline(columns(), RankSVM()), rows),
        "columns and rest": (make_pipeline(all_columns, RankRLS(kernel="gaussian")), mixed),
        "columns by number": (make_pipeline(by_number, RankSVM()), rows),
        "columns by mask": (make_pipeline(by_mask, RankSVM()), rows),
        "rest": (make_pipeline(with_rest, RankSVM()), rows),
        "frames inside": (make_pipeline(as_frame, RankSVM()), rows),
        "queries": (make_query_pipeline(columns(), NystromMap(n_basis=5), RankSVM()), queried),
        "ranks": (RankingPipeline([("columns", columns()), ("rank", RankSVM())]), rows),
        "classes": (make_pipeline(StandardScaler(), RankingClassifier(RankRLS())), X),
        "a pipeline as ranker": (RankingClassifier(make_pipeline(StandardScaler(), RankSVM())), X),
        "a pipeline with a threshold": (FScoreClassifier(make_pipeline(StandardScaler(), RankSVM()), cv=3), X),
    }
    return found


def targets_for(model):
    y = targets()
    return (y > 0).astype(int) if isinstance(model, FScoreClassifier) else y


def small_pipelines():
    """Return a few fitted pipelines with all kinds of values, and their rows; their files are damaged."""
    names = ("columns", "rest", "missing, infrequent", "frames inside", "queries", "a pipeline with a threshold")
    found = pipelines()
    chosen = [found[name] for name in names] + [found["categories 4 OneHotEncoder"]]
    return [(model.fit(X, targets_for(model)), X) for model, X in chosen]
