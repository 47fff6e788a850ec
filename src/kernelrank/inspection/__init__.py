"""Explanations of scores, audits of preferences, and learning curves."""

from kernelrank.inspection._audit import PairAudit, audit_pairs
from kernelrank.inspection._explain import explain
from kernelrank.inspection._explanation import Explanation

__all__ = ["Explanation", "PairAudit", "audit_pairs", "explain"]
