"""Model files: they hold data, not code, so that loading an untrusted file runs nothing."""

from kernelrank.persistence._model_file import load_model, save_model
from kernelrank.persistence._svmlight_model import load_svmlight_model, save_svmlight_model

__all__ = ["load_model", "load_svmlight_model", "save_model", "save_svmlight_model"]
