"""Every parameter of the estimators on collections raises an error that names it for each bad value."""

import dask.array as da
import numpy as np
import pytest
from test_bad_values import BAD, PAIRS, QID, X, Y, complain, of_estimator

from kernelrank.dask import RankRLS, RankSVM, RankSVMCV

CHUNKS = da.from_array(X, chunks=(8, -1))
GIVEN = {"X": CHUNKS, "y": Y}
LINEAR = {"client": "client", "n_basis": None, "kernel": "kernel of features"}
BAD = BAD | {
    "client": [0, "tcp://127.0.0.1:1", [], object()],
    "kernel of features": [*BAD["kernel"], "gaussian"],
    "collection": [None, 5, "x", X, CHUNKS[0], CHUNKS[None], CHUNKS * np.nan, CHUNKS * 1j],
    "no flags": [np.ones(24, bool)],
}
CALLS = {
    "RankSVM": of_estimator(RankSVM(), "fit", GIVEN, **LINEAR, counting="choice", X="collection", observed="no flags"),
    "RankSVM.fit_pairs": of_estimator(
        RankSVM(), "fit_pairs", {"X": CHUNKS, "pairs": PAIRS}, **LINEAR, counting="choice", X="collection"
    ),
    "RankSVM.score": of_estimator(RankSVM(), "score", GIVEN, fit=GIVEN, compute="flag"),
    "RankSVM.rank": of_estimator(RankSVM(), "rank", {"X": CHUNKS}, fit=GIVEN),
    "RankSVM.predict": of_estimator(RankSVM(), "predict", {"X": CHUNKS}, fit=GIVEN),
    "RankSVMCV": of_estimator(RankSVMCV(alphas=2, cv=2), "fit", GIVEN, **LINEAR, X="collection", observed="no flags"),
    "RankRLS": of_estimator(RankRLS(), "fit", GIVEN, **LINEAR, X="collection", y="targets", ties="choice"),
    "RankRLS.leave_query_out": of_estimator(
        RankRLS(), "leave_query_out", {}, fit=GIVEN | {"qid": QID}, alpha="positive or None"
    ),
    "RankRLS.hold_out": of_estimator(
        RankRLS(),
        "hold_out",
        {"folds": [np.arange(6)]},
        fit=GIVEN | {"qid": QID},
        alpha="positive or None",
        folds=None,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_bad_values_are_errors_that_name_the_parameter(name):
    call = CALLS[name]
    call()
    faults = []
    for parameter in call.parameters:
        kind = call.kind(parameter)
        for value in [] if kind is None else BAD[kind]:
            faults += complain(call, parameter, value)
    assert not faults, "\n".join(faults)
