"""Data files: svmlight text with query ids and comments, as used by LETOR, tables with named columns, row stores."""

from kernelrank.io._dump import dump_svmlight
from kernelrank.io._load import SvmlightData, load_svmlight
from kernelrank.io._row_store import RowStore
from kernelrank.io._tables import Table, load_table

__all__ = ["RowStore", "SvmlightData", "Table", "dump_svmlight", "load_svmlight", "load_table"]
