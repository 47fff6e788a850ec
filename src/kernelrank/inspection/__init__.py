"""Explanations of scores, audits of preferences, and learning curves."""

from kernelrank.inspection._audit import PairAudit, audit_pairs
from kernelrank.inspection._explain import explain
from kernelrank.inspection._explanation import Explanation
from kernelrank.inspection._learning_curve import LearningCurve, learning_curve

__all__ = ["Explanation", "LearningCurve", "PairAudit", "audit_pairs", "explain", "learning_curve"]
