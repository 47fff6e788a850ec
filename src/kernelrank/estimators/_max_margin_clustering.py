"""Maximum-margin clustering with the squared loss."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from kernelrank.estimators._least_squares import solvable
from kernelrank.estimators._rls import MeanLoss
from kernelrank.solvers import LabelSearch

_FLAT = 1e-10  # largest shrinkage that has no effect on labels
_ROUNDING = 1e-12  # relative, of a share of the rows


class MaxMarginClustering(ClusterMixin, MeanLoss):  # type: ignore[misc]
    r"""Two clusters that a least-squares classifier separates best.

    Finds labels y of -1 and 1 that minimise the objective of :class:`~kernelrank.RLS` fitted to them,

    .. math:: \min_{f, b} \frac{1}{m} \sum_i (y_i - f(x_i) - b)^2 + \alpha \|f\|^2,

    among those with at least ``min_share * n_samples`` rows per cluster. This is maximum-margin clustering [1]_ with
    the squared loss [2]_: k-means looks for compact clusters, it looks for a boundary, linear or of a kernel, with few
    rows near it. There are always two clusters.

    The problem is combinatorial. It is solved by local searches from several starts, so that ``objective_`` is an upper
    bound of the optimum.

    Parameters
    ----------
    alpha : float, default=1e-2
        Weight of the squared norm relative to the MEAN squared error, as in :class:`~kernelrank.RLS`. A small alpha
        allows more complex boundaries, and the search then finds more local optima.
    kernel : str, Kernel or callable, default="linear"
        "linear", "gaussian", "polynomial", a kernel of :mod:`kernelrank.kernels`, a name that scikit-learn knows, a
        function, or "precomputed".
    min_share : float, default=0.3
        Least share of the rows in each cluster: above 0, up to 0.5 for clusters of equal size. The objective alone
        prefers small clusters: it is 0 if all rows have the same label, and less than ``4 * p`` for any cluster with a
        share p of the rows. A small value therefore leads to clusters of a few outliers. If the result has exactly this
        share, it is due to the constraint: compare it with those of other values.
    n_init : int, default=10
        Number of starts, of which the best result is kept.
    n_basis : int, default=None
        Number of basis rows, drawn at random, whose kernels are combined, as in :class:`~kernelrank.RLS`. None means
        all rows.
    random_state : int, RandomState instance or None, default=0
        For the starts, and the draw of `n_basis` rows.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, 0 or 1; that of the first row is 0.
    objective_ : float
        The objective of `labels_`, between 0 and 1.
    n_iter_ : int
        Steps of the search that led to `labels_`; each changes the label of one row or of two.
    coef_ : ndarray of shape (n_features,)
        Weights of the features, of the model fitted to `labels_` as -1 and 1; linear kernel only.
    dual_coef_ : ndarray of shape (n_basis,)
        Weights of the kernels of `basis_`; other kernels only.
    basis_ : {ndarray, sparse matrix} of shape (n_basis, n_features)
        The rows it was fitted to, or some of them.
    basis_indices_ : ndarray of shape (n_basis,)
        Which ones, if `n_basis` is given.
    intercept_ : float
        The constant b of that model.
    kernel_ : Kernel
        With parameters that depended on the data resolved.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    See Also
    --------
    kernelrank.RLS : The model, for given labels.

    Notes
    -----
    For given labels, the objective is ``y' W y / m``, where W is the matrix that takes targets to the residuals of RLS.
    One decomposition gives W: O(m^3) time and memory for four m x m matrices with a kernel, O(m n^2) time and O(m n)
    memory with n < m features or basis rows. Given the residuals ``W y``, computing the effects of all changes of one
    label takes O(m) time. Updating the residuals after a change takes O(m) as well, or O(m n) with few features. If
    there is too little memory, an error says so before anything is computed.

    A search changes the label that lowers the objective most while there is one. Then it looks for two rows with
    different labels to exchange, which `min_share` may require. At the end, no such change lowers the objective. A row
    whose label may be changed is then on the side of its leave-one-out prediction, with the same penalty ``alpha * m``
    of the sum of squared errors. The first three starts divide the rows at the median of the leading principal
    components of the kernel. Then follow random labels and random functions of the kernel, in turn. Searches from
    random labels alone stop early if alpha is small.

    Features should be scaled. The result does not depend on their offset with a linear or a Gaussian kernel.

    References
    ----------
    .. [1] Xu, Neufeld, Larson, Schuurmans: Maximum margin clustering. Advances in Neural Information Processing
       Systems 17, 2005.
    .. [2] Gieseke, Pahikkala, Kramer: Fast evolutionary maximum margin clustering. Proceedings of the 26th
       International Conference on Machine Learning, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from kernelrank import MaxMarginClustering
    >>> X, species = load_iris(return_X_y=True)
    >>> X, species = X[50:], species[50:]  # the two that overlap
    >>> model = MaxMarginClustering().fit(X)
    >>> round(adjusted_rand_score(species, model.labels_), 2)
    0.92
    >>> model.predict(X[:2])
    array([0, 0])
    """

    _any_namespace = False
    alpha: float

    def __init__(
        self,
        alpha: float = 1e-2,
        *,
        kernel: Any = "linear",
        min_share: float = 0.3,
        n_init: int = 10,
        n_basis: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.min_share = min_share
        self.n_init = n_init
        self.n_basis = n_basis
        self.random_state = random_state

    @property
    def _fitted_alpha(self) -> float:
        return float(self.alpha)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find two clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            At least two different rows; the kernel matrix with ``kernel="precomputed"``.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, _, noted = self._check_rows(X, None)
        m, alpha = X.shape[0], self._fitted_alpha
        if m < 2:
            raise ValueError(f"Two clusters need at least two rows, got n_samples = {m}.")
        X, data = self._validate(X, np.zeros(m), None, None)
        with solvable():
            model = self._compose(X, data, self.kernel, self._draw_basis(m))
            W = model.decomposed.held_out_pairs().W
        if np.max(W.shrinkage(alpha), initial=0.0) <= _FLAT:
            raise ValueError(
                "The rows are all equal, or their kernels differ too little for this alpha: there are no clusters to"
                " find. Scale the features, or use a smaller alpha."
            )
        smallest = min(ceil(self.min_share * m * (1 - _ROUNDING)), m // 2)  # 0.07 * 100 is more than 7
        best = LabelSearch(W, alpha, smallest).best(self.n_init, check_random_state(self.random_state))
        signs = -best.y[0] * best.y
        targets = signs[:, None]
        loss = self._loss_function()(targets, data.codes, np.ones(m))
        labelled = replace(
            model,
            data=replace(data, y=targets, loss=loss, noted=noted),
            solver=model.decomposed.with_targets(loss, targets),
        )
        found = {"labels_": (signs > 0).astype(np.intp), "objective_": best.objective, "n_iter_": best.n_steps}
        return self._store(X, labelled, alpha, **found, _training=None)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the values of the least-squares model: positive on the side of cluster 1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            Values of the model.
        """
        return super().predict(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the cluster of each row, by the sign of :meth:`decision_function`.

        For training rows this is `labels_`, except for rows that `min_share` keeps on the other side of the boundary.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to assign.

        Returns
        -------
        ndarray of shape (n_samples,)
            Clusters of the rows, 0 or 1.
        """
        return (self.decision_function(X) > 0).astype(np.intp)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.target_tags.multi_output = tags.array_api_support = False
        return tags
