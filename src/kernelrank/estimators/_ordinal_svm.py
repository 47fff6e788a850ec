"""Support vector ordinal regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from kernelrank._refit import refit
from kernelrank._validation import check_features, check_weights, scale_weights, separate_qid
from kernelrank._warnings import warn
from kernelrank.estimators._categories import ThresholdClassifier, encode_classes
from kernelrank.estimators._ranker import SVMPredictor
from kernelrank.estimators._svm_solver import convergence_message, reporting
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.losses import OrdinalHinge, Risk
from kernelrank.solvers import Bundle, LinearOracle

Vector = NDArray[np.float64]


class OrdinalSVM(ThresholdClassifier, SVMPredictor):
    r"""Support vector ordinal regression: classifier of ordered classes by thresholds on one score, with a certificate.

    With r classes, m rows, and :math:`f(x) = w \cdot x` or a function of a kernel, it minimises

    .. math:: J(w, b) = \frac{1}{m (r - 1)} \sum_{k=1}^{r-1} \Bigl( \sum_{y_i \le k} \max(0, 1 + f(x_i) - b_k)
              + \sum_{y_i > k} \max(0, 1 - f(x_i) + b_k) \Bigr) + \alpha \|f\|^2

    over f and the thresholds b, which are not penalised: eq. 4 of [1]_, the implicit constraints of [2]_. Every row
    is compared with every threshold, so that the loss of a row grows with the number of classes it is off, and the
    thresholds of the solution are in ascending order without a constraint.

    Parameters
    ----------
    alpha : float, default=1e-3
        Weight of the squared norm against the MEAN loss of rows and thresholds. A sum
        ``1/2 ||w||^2 + C * sum(loss)``, as in [1]_ and [2]_, has ``alpha = 1 / (2 * C * m * (r - 1))``.
    kernel : str, Kernel or callable, default="linear"
        "linear", "gaussian", "polynomial", a kernel of :mod:`kernelrank.kernels`, a name that scikit-learn knows, a
        function, or "precomputed".
    n_basis : int, default=None
        Number of basis rows, drawn at random, for kernels other than the linear one: the model is a combination of
        their kernels, as with :class:`~kernelrank.NystromMap`. None means all rows, which is exact.
    classes : array-like of shape (n_classes,), default=None
        Classes from the lowest to the highest. None means sorted; text is then in alphabetical order.
    tol : float, default=1e-3
        Stop at a certified gap of ``tol`` times the objective of ``w = 0``. That objective is at most 1: the mean over
        thresholds of ``2 * min(share of rows below, share of rows above)``. If the objective is less than a tenth of
        it, the required gap is smaller in proportion, as in :class:`~kernelrank.RankSVM`.
    max_iter : int, default=1000
        Maximum number of iterations, each with two products with the features.
    n_jobs : int, default=None
        Number of threads, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState instance or None, default=0
        Seed of the draw of `n_basis` rows.
    verbose : int or callable, default=0
        As in :class:`~kernelrank.RankSVM`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes from the lowest to the highest.
    thresholds_ : ndarray of shape (n_classes - 1,)
        One between each class and the next, in ascending order.
    coef_ : ndarray of shape (n_features,)
        Weights of the features; linear kernel only.
    dual_coef_ : ndarray of shape (n_basis,)
        Weights of the kernels of `basis_`; other kernels only.
    basis_ : {ndarray, sparse matrix} of shape (n_basis, n_features)
        Basis rows: the training rows, or `n_basis` of them.
    basis_indices_ : ndarray of shape (n_basis,)
        Row numbers of the basis, if `n_basis` is given.
    kernel_ : Kernel
        Kernel with all parameters as numbers, also those that depend on the data; not for the linear kernel.
    objective_ : float
        Value of J at the solution.
    gap_ : float
        Certificate: `objective_` exceeds the optimum by at most this.
    n_iter_ : int
        Number of iterations.
    history_ : structured ndarray of shape (n_iter,)
        As in :class:`~kernelrank.RankSVM`.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    See Also
    --------
    kernelrank.RankSVM : Ranker for any number of levels, without thresholds.
    kernelrank.RankingClassifier : Thresholds on the scores of any ranker.

    Notes
    -----
    For given scores the best thresholds can be computed one by one, and the minimum over thresholds is a convex
    function of the scores (:class:`kernelrank.losses.OrdinalHinge`). So the solver, and its certificate, are those of
    :class:`~kernelrank.RankSVM`. An iteration takes O(m s + m log m + m r) time, with s non-zero features per row.

    ``score`` is accuracy, as for every classifier of scikit-learn. To measure the order of rows, use
    :func:`kernelrank.metrics.concordance_index` with ``score_samples``.

    References
    ----------
    .. [1] Díez, del Coz, Bahamonde: A support vector method for ranking minimizing the number of swapped pairs (2006).
    .. [2] Chu, Keerthi: New approaches to support vector ordinal regression. ICML 2005.

    Examples
    --------
    >>> from kernelrank import OrdinalSVM
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> model = OrdinalSVM().fit(X, y=[1, 1, 2, 2, 3, 3])
    >>> model.predict([[0.0], [3.5], [9.0]])
    array([1, 2, 3])
    >>> model.gap_ <= model.tol
    True
    """

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        kernel: Any = "linear",
        n_basis: int | None = None,
        classes: ArrayLike | None = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: int | Callable[[Any], None] = 0,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.n_basis = n_basis
        self.classes = classes
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A data-frame column named "qid" is not used as a feature.
        y : array-like of shape (n_samples,)
            Class of each row.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows in the mean loss.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, _, noted = self._check_rows(X, None)
        self._require_target(y)
        weights, _ = scale_weights(check_weights(sample_weight, X.shape[0]))
        classes, codes, weighty = encode_classes(y, X.shape[0], weights, self.classes, type(self).__name__)
        loss = OrdinalHinge(codes[weighty], None if weights is None else weights[weighty])
        representation = self._represent(X)
        oracle = LinearOracle(representation.products, _OfSomeRows(loss, weighty))
        with reporting(self.verbose) as report:
            result = Bundle(oracle).minimize(self.alpha, tol=self.tol, max_iter=self.max_iter, report=report)
        solution = representation.attributes(X, result.w)
        with refit(self) as fitted:
            fitted._store(result, noted, solution, classes_=classes, history_=result.history)
            fitted.thresholds_ = loss.thresholds(fitted._evaluate(X)[weighty])
        if not result.converged:
            warn(convergence_message("hinge", self.tol, result), ConvergenceWarning)
        return self

    def score_samples(self, X: Any) -> Vector:
        """Score every row of X: the higher the score, the higher its class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores f(x), to be compared with `thresholds_`.
        """
        check_is_fitted(self)
        X, _ = separate_qid(X, None)
        return np.asarray(self._evaluate(check_features(self, X, reset=False)))


class _OfSomeRows:
    """Loss of some rows; the others have no influence."""

    def __init__(self, loss: OrdinalHinge, rows: NDArray[np.bool_]) -> None:
        self._loss, self._rows = loss, rows

    def __call__(self, scores: Vector) -> Risk:
        risk, g = self._loss(scores[self._rows]), np.zeros(len(scores))
        g[self._rows] = risk.g
        return risk._replace(g=g)
