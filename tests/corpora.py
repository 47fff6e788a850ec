"""Small corpora of sentences whose verbs tell whether two proteins interact, in the unified XML format."""

import numpy as np

VERBS = {"binds": True, "activates": True, "precedes": False, "resembles": False}
TAGS = ("NN", "RB", "VBZ", "NN", "RB")
SENTENCE = """<sentence id="{id}" text="{text}">
<entity id="{id}.e0" text="Actin" charOffset="{spans[0]}"/>
<entity id="{id}.e1" text="profilin" charOffset="{spans[3]}"/>
<pair id="{id}.p0" e1="{id}.e0" e2="{id}.e1" interaction="{related}"/>
<sentenceanalyses><parses><parse parser="split_parse" tokenizer="split">
<dependency t1="t2" t2="t0" type="nsubj"/><dependency t1="t2" t2="t1" type="advmod"/>
<dependency t1="t2" t2="t3" type="dobj"/></parse></parses>
<tokenizations><tokenization tokenizer="split">{tokens}</tokenization></tokenizations></sentenceanalyses></sentence>"""


def make_sentence(number, rng):
    """Return a sentence with two proteins; one label in ten is wrong."""
    verb = str(rng.choice(list(VERBS)))
    words = ["Actin", str(rng.choice(["often", "never"])), verb, "profilin", "here"]
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])])
    spans = [f"{start}-{start + len(word) - 1}" for start, word in zip(starts, words, strict=True)]
    tokens = "".join(
        f'<token id="t{k}" text="{word}" POS="{tag}" charOffset="{span}"/>'
        for k, (word, tag, span) in enumerate(zip(words, TAGS, spans, strict=True))
    )
    related = VERBS[verb] ^ (rng.random() < 0.1)
    return SENTENCE.format(id=number, text=" ".join(words), spans=spans, tokens=tokens, related=related)


def write_corpus(path, n_documents, rng):
    """Write a corpus of documents with three sentences each."""
    documents = [
        f'<document id="d{d}">{"".join(make_sentence(f"d{d}.s{s}", rng) for s in range(3))}</document>'
        for d in range(n_documents)
    ]
    path.write_text(f'<corpus source="{path.stem}">{"".join(documents)}</corpus>')
    return path
