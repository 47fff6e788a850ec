"""Drugs and targets: two matrices of binding strengths, with the folds of the published results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.harness import data_file

TEST = 5  # the fold that is tested; the others, 0 to 4, are the folds of the training entries
FOLDS = range(TEST)


class Pairs(NamedTuple):
    """Known pairs of a drug and a target, with similarities of drugs and of targets.

    Attributes
    ----------
    rows, columns : ndarray of shape (n_known,)
        Drug and target of each entry.
    y : ndarray of shape (n_known,)
        Strength of the binding.
    fold : ndarray of shape (n_known,)
    smiles : ndarray of shape (n_drugs,)
        The drugs as text, one letter or more per atom.
    drugs : ndarray of shape (n_drugs, n_drugs) or None
        Similarities by fingerprints.
    targets : ndarray of shape (n_targets, n_targets)
        Similarities by alignment of their sequences.
    """

    rows: np.ndarray
    columns: np.ndarray
    y: np.ndarray
    fold: np.ndarray
    smiles: np.ndarray
    drugs: np.ndarray | None
    targets: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of drugs and targets."""
        return len(self.smiles), len(self.targets)

    def matrix(self, which: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return the matrix of some entries; the others are NaN."""
        found = np.full(self.shape, np.nan)
        found[self.rows[which], self.columns[which]] = self.y[which]
        return found


def davis(quick: bool) -> Pairs:
    """Return pKd of 68 inhibitors and 442 kinases, all known. Larger is stronger; 5 means nothing was measured."""
    if quick:
        return generated(24, 30, 1.0)
    with np.load(data_file("relational/davis.npz"), allow_pickle=False) as file:
        y = 9.0 - np.log10(file["kd_nm"])
        rows, columns = np.divmod(np.arange(y.size), y.shape[1])
        similarities = file["drug_similarity"], file["target_similarity"]
        return Pairs(rows, columns, y.ravel(), file["fold"].ravel(), file["smiles"], *similarities)


def kiba(quick: bool) -> Pairs:
    """Return KIBA scores of 2,111 drugs and 229 kinases, a quarter of them known. Larger is stronger."""
    if quick:
        return generated(40, 20, 0.4)._replace(drugs=None)
    with np.load(data_file("relational/kiba.npz"), allow_pickle=False) as file:
        rows, columns = file["drug"].astype(int), file["target"].astype(int)
        targets = file["target_similarity"].astype(float)
        return Pairs(rows, columns, file["score"].astype(float), file["fold"], file["smiles"], None, targets)


def generated(n_drugs: int, n_targets: int, share: float) -> Pairs:
    """Return a small set of the same form."""
    rng = np.random.default_rng(0)
    letters = rng.choice(list("CNOS()=1"), size=(n_drugs, 12))
    U, V = (letters == "N").cumsum(axis=1) / 6.0, rng.normal(size=(n_targets, 3))
    y = np.sin(U @ rng.normal(size=(12, 3))) @ V.T
    rows, columns = np.nonzero(rng.random(y.shape) < share)
    strengths = y[rows, columns] + 0.1 * rng.normal(size=len(rows))
    fold = rng.permutation(np.arange(len(rows)) % (TEST + 1))
    smiles = np.array(["".join(word) for word in letters])
    similar = np.exp(-np.square(U[:, None] - U).sum(axis=2)), 1000.0 * np.exp(-np.square(V[:, None] - V).sum(axis=2))
    return Pairs(rows, columns, strengths, fold, smiles, *similar)
