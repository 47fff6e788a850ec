"""Nystrom map: features that approximate a kernel, with an update for held-out basis rows."""

from __future__ import annotations

from copy import copy
from typing import Any, Literal, Self

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernelrank._arrays import Array, as_double, is_foreign, like, slices, take, to_host
from kernelrank._dense import multiply
from kernelrank._memory import require_memory
from kernelrank._query_ids import encode_queries
from kernelrank._refit import adopt, unfitted_copy
from kernelrank._rules import COUNT, RANDOM_STATE
from kernelrank._validation import as_array, as_rows, check_features, require_place, separate_qid
from kernelrank.features._nystrom import draw_order, lost_directions, map_rows, whitening
from kernelrank.kernels import Precomputed, make_kernel
from kernelrank.kernels._choice import HasKernel

Rows = NDArray[np.intp]

_IN_CACHE = 1 << 18  # elements per block of rows, which stays in the cache


class NystromMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, HasKernel):  # type: ignore[misc]
    r"""Nystrom features, whose inner products approximate a kernel by means of basis rows.

    Rows are mapped to :math:`k(x, R) K_{RR}^{-1/2}`, with R the basis. A linear model of these features is a
    combination of the kernel functions of the basis rows, and the squared norm of its weights is the squared norm of
    this function. Any linear method thus becomes a kernel method with a reduced set [1]_. With all rows as basis, the
    features are exact.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="gaussian"
        "linear", "gaussian", "polynomial", a kernel of :mod:`kernelrank.kernels`, a name that scikit-learn knows, a
        function, or "precomputed".
    n_basis : int, default=100
        Maximum number of basis rows. All rows are used if there are fewer; rows that depend linearly on others, up to
        rounding, are left out.
    selection : {"uniform", "per-query"} or array-like of int, default="uniform"
        Choice of basis rows: drawn from all rows; drawn with equal numbers per query, as far as a query has enough
        rows; or the given row indices, regardless of `n_basis`.
    random_state : int, RandomState instance or None, default=0
        Random number generator of the selection.

    Attributes
    ----------
    basis_ : {ndarray, sparse matrix} of shape (n_basis, n_features)
        Basis rows; absent if the kernel is "precomputed", where X is a kernel matrix against all training rows.
    basis_indices_ : ndarray of shape (n_basis,)
        Indices of the basis rows in X.
    kernel_ : Kernel
        The kernel with the values of data-dependent parameters.
    whitening_ : ndarray of shape (n_basis, n_components)
        Matrix that maps the kernel against the basis to the features.
    n_components_ : int
        Number of features, equal to the number of basis rows.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    Notes
    -----
    The running time is O(m n_basis^2), and memory is m n_basis numbers plus a few megabytes. Linearly dependent rows,
    for which the kernel matrix would be singular, are excluded from the basis by a pivoted Cholesky decomposition.
    With scikit-learn's ``array_api_dispatch``, dense arrays of other libraries are mapped on their device, in float64.

    **Cross-validation.** The map depends on its basis. If held-out rows are basis rows, an estimate of the performance
    can be severely biased, upwards or downwards [1]_. Either fit the map in every fold, as a pipeline does, or remove
    the basis rows of the fold with :meth:`without`, at a fraction of the cost.

    References
    ----------
    .. [1] Airola, Pahikkala, Salakoski: On learning and cross-validation with decomposed Nyström approximation of
       kernel matrix. Neural Processing Letters 33 (2011).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank import NystromMap, RankSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> y = np.hypot(*X.T)  # the distance from the centre, not a linear function of X
    >>> features = NystromMap("gaussian", n_basis=50).fit(X)
    >>> RankSVM().fit(features.transform(X), y).score(features.transform(X), y) > 0.95
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_basis: int = 100,
        *,
        selection: Literal["uniform", "per-query"] | ArrayLike = "uniform",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.n_basis = n_basis
        self.selection = selection
        self.random_state = random_state

    # With metadata routing enabled, qid reaches fit without set_fit_request.
    __metadata_request__fit = {"qid": True}  # noqa: RUF012 - read by scikit-learn, never changed

    def fit(self, X: Any, y: Any = None, *, qid: ArrayLike | None = None) -> Self:
        """Select the basis rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A data-frame column named "qid" is used as the query of each row.
        y : None
            Ignored.
        qid : array-like of shape (n_samples,), optional
            Query of each row, required for ``selection="per-query"``.

        Returns
        -------
        self
            The fitted map.
        """
        COUNT("n_basis", self.n_basis)
        RANDOM_STATE("random_state", self.random_state)
        X, qid = separate_qid(X, qid)
        fitted = unfitted_copy(self)
        X = check_features(fitted, X, reset=True, any_namespace=True)
        queries, _ = encode_queries(qid, X.shape[0])
        fitted.kernel_ = make_kernel(self.kernel).resolve(X)
        selected = self._select(X.shape[0], queries)
        n, candidates = len(selected), take(X, selected)
        require_memory(32 * n**2, f"The kernel matrix of {n} basis rows, with its factors,", "Use a smaller n_basis.")
        if isinstance(fitted.kernel_, Precomputed):
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"A kernel matrix must be square in fit, got X of shape {X.shape}.")
            kept, fitted.whitening_ = whitening(fitted.kernel_, candidates, selected)
        else:
            kept, fitted.whitening_ = whitening(fitted.kernel_, candidates)
            fitted.basis_ = take(candidates, kept)
        fitted.basis_indices_ = selected[kept]
        fitted._n_rows, fitted._gone = X.shape[0], np.zeros(len(kept), dtype=bool)
        fitted._removed = like(np.zeros((fitted.n_components_, 0)), fitted.whitening_)
        adopt(self, fitted)
        return self

    def transform(self, X: Any) -> Array:
        """Map rows to features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to map.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Features of the rows.
        """
        check_is_fitted(self)
        X, _ = separate_qid(X, None)
        X = check_features(self, X, reset=False, any_namespace=True)
        m = X.shape[0]
        require_place(self, X, self.whitening_, ["transform"])
        if not is_foreign(X):  # the library reports memory of its device
            require_memory(
                8.0 * m * self.n_components_, f"{self.n_components_} features of {m} rows", "Use a smaller n_basis."
            )
        basis = self.basis_indices_ if isinstance(self.kernel_, Precomputed) else self.basis_
        features = map_rows(self.kernel_, X, basis, self.whitening_)
        return self.restrict(features) if self._removed.shape[1] else features

    def coefficients(self, w: ArrayLike) -> Array:
        """Convert weights of the features into coefficients of the basis rows.

        Parameters
        ----------
        w : array-like of shape (n_components,) or (n_components, n_outputs)
            Weights of the features.

        Returns
        -------
        ndarray of shape (n_basis,) or (n_basis, n_outputs)
            ``features @ w`` is ``kernel(X, basis_) @ coefficients(w)``.
        """
        check_is_fitted(self)
        weights = as_double(w)
        if weights.shape[:1] != (self.n_components_,):
            raise ValueError(
                f"w must have a length of {self.n_components_} along the first axis, got shape {weights.shape}."
            )
        return self.whitening_ @ (weights - self._removed @ (self._removed.T @ weights))

    def without(self, held_out: ArrayLike) -> Self:
        """Return the map without the basis rows among some held-out rows.

        The result is the map of the remaining basis rows in other coordinates: inner products of features are those of
        a map fitted with the remaining rows. It takes O(n_basis h^2) for h removed basis rows, and :meth:`restrict`
        converts existing features in O(m n_basis h); mapping the rows again would take O(m n_basis^2).

        Parameters
        ----------
        held_out : array-like of int or bool
            Indices of held-out rows of X, or a mask.

        Returns
        -------
        NystromMap
            Map with the same parameters; ``basis_`` still has all rows, but held-out rows have no effect.

        Examples
        --------
        >>> import numpy as np
        >>> from kernelrank import NystromMap
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> nystrom = NystromMap(n_basis=20).fit(X)
        >>> features, fold = nystrom.transform(X), np.arange(30)
        >>> honest = nystrom.without(fold).restrict(features)  # independent of the rows of the fold
        >>> kept = np.setdiff1d(nystrom.basis_indices_, fold)
        >>> again = NystromMap(nystrom.kernel_, selection=kept).fit(X).transform(X)
        >>> bool(np.allclose(honest @ honest.T, again @ again.T))
        True
        """
        check_is_fitted(self)
        numbers = as_rows(held_out, self._n_rows)
        other = copy(self)
        other._gone = self._gone | np.isin(self.basis_indices_, numbers)
        lost = lost_directions(np.asarray(to_host(self.whitening_)), other._gone)
        other._removed = like(lost, self.whitening_)
        return other

    def restrict(self, features: Array) -> Array:
        """Convert features of the whole map to those without the removed basis rows.

        Parameters
        ----------
        features : ndarray of shape (n_samples, n_components) or (n_components,)
            Features of the map before :meth:`without`, or weights of them.

        Returns
        -------
        ndarray of the same shape
            Features, or weights of them, without the removed rows.
        """
        check_is_fitted(self)
        features = as_double(features)
        if features.shape[-1:] != (self.n_components_,):
            raise ValueError(
                f"features must have a length of {self.n_components_} along the last axis, got shape {features.shape}."
            )
        if features.ndim == 1:
            return features - self._removed @ (self._removed.T @ features)
        found = array_namespace(features).empty_like(features)
        for some in slices(features.shape[0], _IN_CACHE // max(1, self.n_components_)):
            rows = features[some, :]
            found[some, :] = rows - multiply(multiply(rows, self._removed), self._removed.T)
        return found

    def _select(self, m: int, queries: NDArray[np.int32] | None) -> Rows:
        if not isinstance(self.selection, str):
            rows = as_array(self.selection, "selection")
            if rows.ndim != 1 or len(rows) == 0 or rows.dtype.kind not in "iu" or len(np.unique(rows)) != len(rows):
                raise ValueError('selection must be "uniform", "per-query" or distinct row indices.')
            if not (rows.min() >= 0 and rows.max() < m):
                raise ValueError(f"selection must hold row indices from 0 to {m - 1}.")
            return rows.astype(np.intp)
        order = draw_order(m, self.n_basis, self.random_state)
        if self.selection == "per-query":
            if queries is None:
                raise ValueError('selection="per-query" requires qid.')
            # The first drawn row of each query, then the second, and so on.
            by_query = order[np.argsort(queries[order], kind="stable")]
            sizes = np.bincount(queries)
            turn = np.arange(m) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            position = np.empty(m, dtype=np.intp)
            position[order] = np.arange(m)
            order = by_query[np.lexsort((position[by_query], turn))]
        elif self.selection != "uniform":
            raise ValueError(f'selection must be "uniform", "per-query" or row indices, got {self.selection!r}.')
        return np.sort(order[: self.n_basis])

    @property
    def n_components_(self) -> int:
        """Number of features."""
        return int(self.whitening_.shape[1])

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or (
            isinstance(self.kernel, str) and self.kernel == "precomputed"
        )
        return tags
