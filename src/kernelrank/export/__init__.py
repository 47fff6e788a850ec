"""Exports of fitted models: ONNX, search engines, SQL."""

from kernelrank.export._onnx import to_onnx
from kernelrank.export._search import to_elasticsearch, to_opensearch, to_solr
from kernelrank.export._sql import to_sql

__all__ = ["to_elasticsearch", "to_onnx", "to_opensearch", "to_solr", "to_sql"]
