"""Small corpora that are made here, for runs without data: verbs tell whether proteins interact."""

from __future__ import annotations

import numpy as np

from experiments.ppi._corpora import FILES
from kernelrank.relations import Dependency, Entity, PPICorpus, Sentence, Token

VERBS = {"binds": 1, "activates": 1, "precedes": 0, "resembles": 0}
ADVERBS = ("often", "never", "directly", "also", "probably")
N_DOCUMENTS = 20


def make_corpora() -> dict[str, PPICorpus]:
    """Make as many corpora as there are, with their names."""
    return {name: _make(name, seed) for seed, name in enumerate(FILES)}


def _make(name: str, seed: int) -> PPICorpus:
    rng = np.random.default_rng(seed)
    sentences, y = [], []
    for number in range(4 * N_DOCUMENTS):
        verb = str(rng.choice(list(VERBS)))
        words = ["Actin", str(rng.choice(ADVERBS)), verb, "profilin", "here"]
        starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])])
        tokens = tuple(
            Token(word, pos, int(start), int(start) + len(word))
            for word, pos, start in zip(words, ("NN", "RB", "VBZ", "NN", "RB"), starts, strict=True)
        )
        dependencies = (Dependency(2, 0, "nsubj"), Dependency(2, 1, "advmod"), Dependency(2, 3, "dobj"))
        entities = tuple(
            Entity(f"{number}.{k}", tokens[k].text, ((tokens[k].start, tokens[k].end),), (k,)) for k in (0, 3)
        )
        document = f"{name}.d{number // 4}"
        sentences.append(Sentence(f"{name}.s{number}", document, " ".join(words), tokens, dependencies, entities))
        y.append(VERBS[verb] if rng.random() < 0.8 else 1 - VERBS[verb])
    pairs = np.array([(number, 0, 1) for number in range(len(sentences))])
    ids = [np.array([getattr(sentence, field) for sentence in sentences]) for field in ("id", "document")]
    return PPICorpus(name, tuple(sentences), pairs, np.array(y), *ids, 0)
