"""Support vector ordinal regression."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from kernelrank._threads import resolve_threads, single_threaded_blas
from kernelrank._validation import check_features, check_weights, scale_weights, separate_qid
from kernelrank.estimators._categories import ThresholdClassifier, encode_classes
from kernelrank.estimators._parameters import check_positive
from kernelrank.estimators._ranker import Predictor, predict_with_kernel
from kernelrank.estimators._training import print_record, shortcoming
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.features import NystromMap
from kernelrank.kernels import Kernel, Linear, Precomputed, make_kernel
from kernelrank.losses import OrdinalHinge
from kernelrank.solvers import Bundle, LinearOracle, Result, make_products, multiply

Vector = NDArray[np.float64]

_ROUND = 50  # iterations
_FITTED = ("coef_", "dual_coef_", "basis_", "kernel_", "feature_names_in_")  # not all of them in every fit


class OrdinalSVM(ThresholdClassifier, Predictor):
    r"""Support vector ordinal regression: ordered classes by thresholds on one score, with a certificate.

    With r classes, m rows, and :math:`f(x) = w \cdot x` or a function of a kernel, it minimises

    .. math:: J(w, b) = \frac{1}{m (r - 1)} \sum_{k=1}^{r-1} \Big( \sum_{y_i \le k} \max(0, 1 + f(x_i) - b_k)
              + \sum_{y_i > k} \max(0, 1 - f(x_i) + b_k) \Big) + \alpha \|f\|^2

    over f and the thresholds b, which are not penalised: eq. 4 of [1]_, the implicit constraints of [2]_. Every row
    is compared with every threshold, so a row costs the more, the more classes it is off; and thresholds come out in
    order without being told to.

    Parameters
    ----------
    alpha : float, default=1e-3
        Weight of the squared norm against the MEAN loss of rows and thresholds. A sum
        ``1/2 ||w||^2 + C * sum(loss)``, as in [1]_ and [2]_, has ``alpha = 1 / (2 * C * m * (r - 1))``.
    kernel : str, Kernel or callable, default="linear"
        "linear", "gaussian", "polynomial", a kernel of :mod:`kernelrank.kernels`, a name that scikit-learn knows or a
        function; not "precomputed".
    n_basis : int, default=None
        For other kernels than the linear one: learn a combination of so many rows' kernels, drawn at random, as
        :class:`NystromMap` does. None means all rows, which is exact.
    classes : array-like of shape (n_classes,), default=None
        The classes from the lowest to the highest. None means sorted; text is then sorted by the alphabet.
    tol : float, default=1e-3
        Certified gap to reach, relative to the objective of ``w = 0``, which is 1 or less: the mean of
        ``2 * min(share below, share above)`` of the thresholds.
    max_iter : int, default=1000
        Iterations at most, each with two products with the features.
    n_jobs : int, default=None
        Threads, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState instance or None, default=0
        For the draw of `n_basis` rows.
    verbose : int or callable, default=0
        As in :class:`RankSVM`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        From the lowest to the highest.
    thresholds_ : ndarray of shape (n_classes - 1,)
        One between each class and the next; never falling.
    coef_ : ndarray of shape (n_features,)
        Weights of the features; linear kernel only.
    dual_coef_ : ndarray of shape (n_basis,)
        Weights of the kernels of `basis_`; other kernels only.
    basis_ : {ndarray, sparse matrix} of shape (n_basis, n_features)
        The rows it was fitted to, or some of them.
    kernel_ : Kernel
        With parameters that depended on the data resolved.
    objective_ : float
        J of the solution.
    gap_ : float
        Certificate: `objective_` exceeds the optimum by at most this.
    n_iter_ : int
        Iterations made.
    history_ : structured ndarray of shape (n_iter_,)
        ``upper_bound, lower_bound, seconds, n_products, n_evaluations`` of each iteration.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    RankSVM : Learns the order alone, of any number of levels.
    RankingClassifier : Sets thresholds on the scores of any ranker.

    Notes
    -----
    For given scores each threshold can be found by itself, and the loss without them is a convex function of the scores
    (:class:`kernelrank.losses.OrdinalHinge`): so the solver is that of :class:`RankSVM`, with its certificate. An
    iteration takes O(m s + m log m + m r) time, for s non-zero features a row.

    ``score`` is accuracy, as for every classifier of scikit-learn; for the order of ``decision_function`` there is
    :func:`kernelrank.metrics.concordance_index`.

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
        """Train on classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A data-frame column named "qid" is no feature, and is left out.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows: the mean loss is a weighted one.

        Returns
        -------
        self
        """
        check_positive(self, "alpha", "tol")
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        self._require_target(y)
        X, _, noted = self._check_rows(X, None)
        weights, _ = scale_weights(check_weights(sample_weight, X.shape[0]))
        classes, codes, weighty = encode_classes(y, X.shape[0], weights, self.classes, type(self).__name__)
        if not weighty.all():
            X, codes, weights = X[weighty], codes[weighty], weights[weighty]  # type: ignore[index]
        loss = OrdinalHinge(codes, weights)
        kernel = self._resolve_kernel(X)
        with single_threaded_blas:
            nystrom = None if isinstance(kernel, Linear) else self._map(kernel, X)
            features = X if nystrom is None else nystrom.transform(X)
            tol = self.tol * loss(np.zeros(features.shape[0])).value
            result = self._minimize(features, loss, tol)
            thresholds = loss.thresholds(multiply(features, result.w))
        for name in _FITTED:
            self.__dict__.pop(name, None)
        self.__dict__.update(noted, classes_=classes, thresholds_=thresholds, kernel_=kernel, history_=result.history)
        self.objective_, self.gap_, self.n_iter_ = result.objective, result.gap, result.n_iter
        if nystrom is None:
            self.coef_ = result.w
        else:
            self.basis_, self.dual_coef_ = nystrom.basis_, nystrom.coefficients(result.w)
        if not result.converged:
            warnings.warn(shortcoming("hinge", tol, result), ConvergenceWarning, stacklevel=2)
        return self

    def _resolve_kernel(self, X: Any) -> Kernel:
        kernel = make_kernel(self.kernel)
        if isinstance(kernel, Precomputed):
            raise ValueError('OrdinalSVM takes no kernel="precomputed": it needs the rows.')
        if isinstance(kernel, Linear) and self.n_basis is not None:
            raise ValueError("n_basis is for non-linear kernels; with kernel='linear' it must be None.")
        return kernel.resolve(X)

    def _map(self, kernel: Kernel, X: Any) -> NystromMap:
        n_basis = X.shape[0] if self.n_basis is None else self.n_basis
        return NystromMap(kernel, n_basis, random_state=self.random_state).fit(X)

    def _minimize(self, features: Any, loss: OrdinalHinge, tol: float) -> Result:
        """Minimise in rounds, and look at the gap after each.

        Zero may be the optimum, where rounding keeps a bundle from ending: it wants a step from zero, as every ranking
        has one. The next round goes on with the planes of the last.
        """
        report = self.verbose if callable(self.verbose) else print_record if self.verbose else None
        bundle = Bundle(LinearOracle(make_products(features, resolve_threads(self.n_jobs)), loss))
        history: list[NDArray[Any]] = []
        for done in range(0, self.max_iter, _ROUND):
            most = min(_ROUND, self.max_iter - done)
            result = bundle.minimize(self.alpha, tol=tol, max_iter=most, report=report)
            history.append(result.history)
            if result.gap <= tol:
                break
        return replace(result, converged=result.gap <= tol, history=np.concatenate(history))

    def decision_function(self, X: Any) -> Vector:
        """Score every row of X: the higher, the higher its class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            To be compared with `thresholds_`, also where there are two classes.
        """
        check_is_fitted(self)
        X, _ = separate_qid(X, None)
        return self._evaluate(check_features(self, X, reset=False))

    def _evaluate(self, X: Any) -> Vector:
        if isinstance(self.kernel_, Linear):
            return multiply(X, self.coef_)
        return predict_with_kernel(self.kernel_, X, self.basis_, self.dual_coef_)
