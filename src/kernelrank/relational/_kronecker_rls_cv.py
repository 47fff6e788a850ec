"""Kronecker least squares that choose alpha by an exact hold-out."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank.estimators._alphas import AlphaGrid, warn_at_end
from kernelrank.estimators._parameters import resolve_scorer
from kernelrank.metrics import RankingScorer
from kernelrank.relational._kronecker_rls import KroneckerLeastSquares
from kernelrank.relational._training import KnownEntries

Array = NDArray[np.float64]

_DECADES = 8.0  # of a grid, from the largest eigenvalue downwards


class KroneckerRLSCV(KroneckerLeastSquares):
    r"""Kronecker least squares that choose alpha by an exact hold-out, without a single refit.

    Which hold-out is right depends on what will be predicted: new entries of known rows and columns, new rows, new
    columns, or both new. The best alpha, and the score that can be expected, differ between them.

    Parameters
    ----------
    alphas : int or array-like, default=20
        Number of alphas, or the alphas. A number means a geometric grid over eight decades, from the largest eigenvalue
        of the loss downwards. It goes on to twelve decades at most, as long as the last decade has improved the score
        by more than 0.1 %.
    leave : {"entry", "row", "column", "both"}, default="entry"
        What is held out.
    scoring : str, RankingScorer or callable, default=None
        Score to maximise. With ``ranking=True``, the mean concordance over rows by default, and otherwise minus the
        mean squared error. A name or a scorer of :mod:`kernelrank.metrics` is evaluated within each row if these are
        ranked, otherwise for all entries together. A function ``(y_true, y_pred)`` gets all entries.
    row_kernel, column_kernel : str, Kernel or callable, default="linear"
        Kernels of the rows, and of the columns, as in :class:`~kernelrank.relational.KroneckerRLS`.
    ranking : bool, default=False
        Whether the columns are ranked within each row, as in :class:`~kernelrank.relational.KroneckerRLS`.
    fit_intercept : bool, default=True
        Whether there is a constant, which is not penalised; not with ``ranking=True``.
    n_row_basis, n_column_basis : int, default=None
        Number of rows, or columns, drawn at random, whose kernels are combined. None means all.
    random_state : int, RandomState instance or None, default=0
        For the draw of a basis.
    verbose : int or callable, default=0
        1 prints a line per alpha. A function is called after each alpha instead, with how many of how many are done;
        the second number grows when the path goes on.

    Attributes
    ----------
    alphas_ : ndarray of shape (n_alphas,)
        From the largest to the smallest.
    scores_ : ndarray of shape (n_alphas, 1)
        Scores of held-out predictions. The greatest is slightly optimistic, because alpha was chosen by it.
    alpha_ : float
        The alpha with the greatest score; the larger of equals.
    held_out_ : ndarray of shape (n_rows, n_columns)
        Held-out predictions with that alpha.
    coef_ : ndarray of shape (n_row_functions, n_column_functions)
        Weights of products of a function of the row and one of the column, for `alpha_`; see
        :class:`~kernelrank.relational.KroneckerRLS`.
    row_coef_, column_coef_ : ndarray of shape (n_row_functions,) and (n_column_functions,)
        Weights of the functions of a row, or a column, alone.
    intercept_ : float
        Constant that is added to all predictions.
    row_basis_, column_basis_ : {ndarray, sparse matrix}
        Elements whose kernels are combined, where they are.
    row_kernel_, column_kernel_ : Kernel
        With parameters that depended on the data resolved.
    n_iter_ : int
        Steps of conjugate gradients: 1, since the solution has a closed form.
    residual_ : float
        Relative residual of conjugate gradients: 0, since the solution has a closed form.
    n_row_features_in_ : int
        Features of U seen in fit.
    n_column_features_in_ : int
        Features of V seen in fit.
    row_feature_names_in_, column_feature_names_in_ : ndarray of str
        Names of the columns of U and V, if these are data frames.

    Notes
    -----
    Time for each alpha is that of the hold-out, O(q m (q + m)); "both" takes some tens of times as long. All entries
    must be known.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank.relational import KroneckerRLSCV
    >>> rng = np.random.default_rng(0)
    >>> U, V = rng.normal(size=(30, 5)), rng.normal(size=(40, 5))
    >>> Y = U @ rng.normal(size=(5, 5)) @ V.T + 10 * rng.normal(size=(30, 40))
    >>> model = KroneckerRLSCV(alphas=[10.0, 0.1, 1e-3], leave="row", ranking=True).fit(U, V, Y)
    >>> model.scores_.round(3)
    array([[0.585],
           [0.597],
           [0.596]])
    >>> model.alpha_
    0.1
    """

    def __init__(
        self,
        alphas: int | ArrayLike = 20,
        *,
        leave: Literal["entry", "row", "column", "both"] = "entry",
        scoring: str | RankingScorer | Callable[..., float] | None = None,
        row_kernel: Any = "linear",
        column_kernel: Any = "linear",
        ranking: bool = False,
        fit_intercept: bool = True,
        n_row_basis: int | None = None,
        n_column_basis: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: int | Callable[[int, int], None] = 0,
    ) -> None:
        self.alphas = alphas
        self.leave = leave
        self.scoring = scoring
        self.row_kernel = row_kernel
        self.column_kernel = column_kernel
        self.ranking = ranking
        self.fit_intercept = fit_intercept
        self.n_row_basis = n_row_basis
        self.n_column_basis = n_column_basis
        self.random_state = random_state
        self.verbose = verbose

    tol, max_iter = 1e-6, 1000  # all entries are known, and nothing is iterated

    @property
    def _fitted_alpha(self) -> float:
        """The alpha of the fit."""
        return float(self.alpha_)

    def fit(self, U: Any, V: Any, Y: Any) -> Self:
        """Choose alpha by held-out predictions, and train with it on all entries.

        Parameters
        ----------
        U : {array-like, sparse matrix} of shape (n_rows, n_row_features)
            Features of the rows, or their kernel matrix.
        V : {array-like, sparse matrix} of shape (n_columns, n_column_features)
            Features of the columns, or their kernel matrix.
        Y : array-like of shape (n_rows, n_columns)
            Targets, all of them known.

        Returns
        -------
        self
            The fitted estimator.
        """
        training, noted = self._learn_from(U, V, Y)
        if isinstance(training, KnownEntries):
            training.refuse(self.leave)
        rate = self._rater(training.Y)

        def score(alphas: Array, n_before: int) -> Array:
            found = np.empty(len(alphas))
            for k, alpha in enumerate(alphas.tolist()):
                found[k] = rate(training.predict_without(self.leave, alpha))
                self._tell(n_before + k + 1, n_before + len(alphas), alpha, found[k])
            return found

        def largest() -> float:
            return training.rows.largest * training.columns.largest / training.Y.size * (1.0 + self.ranking) or 1.0

        grid = AlphaGrid(self.alphas, largest, _DECADES)
        alphas, scores = grid.first, score(grid.first, 0)
        while len(further := grid.further(alphas, scores)):
            scores = np.append(scores, score(further, len(alphas)))
            alphas = np.append(alphas, further)
        warn_at_end(alphas, scores, goes_on=isinstance(self.alphas, Integral), limit=largest)
        alpha = float(alphas[np.argmax(scores)])
        return self._store(
            *(training, noted, alpha),
            alphas_=alphas,
            scores_=scores[:, None],
            alpha_=alpha,
            held_out_=training.predict_without(self.leave, alpha),
        )

    def _tell(self, done: int, total: int, alpha: float, score: float) -> None:
        if callable(self.verbose):
            self.verbose(done, total)
        elif self.verbose:
            print(f"{done} of {total}: alpha {alpha:.3g}, score {score:.6g}", flush=True)

    def _rater(self, Y: Array) -> Callable[[Array], float]:
        """Return the function that scores predictions of all entries; the greater, the better."""
        y = Y.ravel()
        rows = np.repeat(np.arange(Y.shape[0]), Y.shape[1]) if self.ranking else None
        if self.scoring is None and not self.ranking:
            return lambda predicted: -float(np.mean((y - predicted.ravel()) ** 2))
        if self.scoring is None or isinstance(self.scoring, str | RankingScorer):
            scorer = resolve_scorer(self.scoring)
            return lambda predicted: float(scorer.evaluate(y, predicted.ravel(), qid=rows))
        function: Callable[..., float] = self.scoring
        return lambda predicted: float(function(y, predicted.ravel()))
