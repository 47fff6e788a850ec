"""Pipelines of scikit-learn for tables, with support for queries."""

from kernelrank.pipelines._query_pipeline import QueryPipeline, RankingPipeline, make_query_pipeline
from kernelrank.pipelines._query_scaler import QueryScaler
from kernelrank.pipelines._table_ranker import make_table_ranker

__all__ = ["QueryPipeline", "QueryScaler", "RankingPipeline", "make_query_pipeline", "make_table_ranker"]
