"""Corpora of protein-protein interactions: what is read, what is refused."""

import bz2
import gzip
import lzma
import os
import re
import tracemalloc
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from kernelrank.exceptions import DataFormatError
from kernelrank.relations import Dependency, Token, load_ppi


def tag(name, content="", **attributes):
    written = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return f"<{name}{written}>{content}</{name}>\n"


def analysis(name, tokenizer, tokens, dependencies):
    """Return a parse and its tokenization; tokens are (text, start), all nouns."""
    parse = "".join(tag("dependency", t1=f"t{a}", t2=f"t{b}", type=kind) for a, b, kind in dependencies)
    tokenization = "".join(
        tag("token", id=f"t{k}", text=text, POS="NN", charOffset=f"{start}-{start + len(text) - 1}")
        for k, (text, start) in enumerate(tokens)
    )
    return tag("parse", parse, parser=name, tokenizer=tokenizer), tag("tokenization", tokenization, tokenizer=tokenizer)


TEXT = "Actin-binding talin and alpha/beta-catenin."
WHOLE = analysis(
    "Charniak-Lease",
    "Charniak-Lease",
    [("Actin-binding", 0), ("talin", 14), ("and", 20), ("alpha/beta-catenin", 24), (".", 42)],
    [(1, 0, "amod"), (1, 3, "conj_and")],
)
SPLIT = analysis(
    "split_parse",
    "split",
    [("Actin", 0), ("-", 5), ("binding", 6), ("talin", 14), ("and", 20), ("alpha/beta-catenin", 24), (".", 42)],
    [(3, 2, "amod"), (3, 5, "conj_and"), (2, 0, "hyphen")],
)
ENTITIES = [
    tag("entity", id="e0", text="alpha-catenin", charOffset="24-28,34-41"),
    tag("entity", id="e1", text="talin", charOffset="14-18"),
    tag("entity", id="e2", text="Actin", charOffset="0-4"),
    tag("entity", id="e3", text="beta-catenin", charOffset="30-41"),
]
PAIRS = [
    tag("pair", id="p0", e1="e0", e2="e1", interaction="False"),
    tag("pair", id="p1", e1="e2", e2="e1", interaction="True"),
    tag("pair", id="p2", e1="e1", e2="e1", interaction="True"),
    tag("pair", id="p3", e1="e0", e2="e3", interaction="False"),
]


def sentence(entities=ENTITIES, pairs=PAIRS, analyses=(WHOLE, SPLIT), **attributes):
    parses, tokenizations = ("".join(part) for part in zip(*analyses, strict=True)) if analyses else ("", "")
    inner = tag("sentenceanalyses", tag("parses", parses) + tag("tokenizations", tokenizations))
    return tag("sentence", "".join(entities) + "".join(pairs) + inner, **({"id": "d0.s0", "text": TEXT} | attributes))


def corpus(*sentences, source="tiny"):
    return tag("corpus", tag("document", "".join(sentences), id="d0"), source=source)


def load(text, **parameters):
    return load_ppi(BytesIO(text if isinstance(text, bytes) else text.encode()), **parameters)


class TestReading:
    def test_everything_in_a_sentence(self):
        found = load(corpus(sentence()))
        assert repr(found) == "<PPICorpus tiny: 1 sentences, 3 pairs of which 1 interact>"
        (only,) = found.sentences
        assert only[:3] == ("d0.s0", "d0", TEXT)
        assert only.tokens[2] == Token("binding", "NN", 6, 13)
        assert [TEXT[token.start : token.end] for token in only.tokens] == [token.text for token in only.tokens]
        assert only.dependencies == (Dependency(3, 2, "amod"), Dependency(3, 5, "conj_and"), Dependency(2, 0, "hyphen"))
        assert [entity.id for entity in only.entities] == ["e0", "e1", "e2", "e3"]
        assert only.entities[0].spans == ((24, 29), (34, 42))
        assert [TEXT[a:b] for a, b in only.entities[0].spans] == ["alpha", "-catenin"]
        assert [entity.tokens for entity in only.entities] == [(5,), (3,), (0,), (5,)]

    def test_the_other_parse(self):
        (only,) = load(corpus(sentence()), parse="Charniak-Lease").sentences
        assert len(only.tokens) == 5
        assert [entity.tokens for entity in only.entities] == [(3,), (1,), (0,), (3,)]
        assert only.dependencies[1] == (1, 3, "conj_and")

    def test_pairs_of_all_sentences(self):
        found = load(corpus(sentence(), sentence(id="d0.s1", pairs=[]), sentence(id="d0.s2", pairs=PAIRS[:2])))
        assert len(found) == 5
        np.testing.assert_array_equal(found.pairs, [[0, 0, 1], [0, 2, 1], [0, 0, 3], [2, 0, 1], [2, 2, 1]])
        np.testing.assert_array_equal(found.y, [0, 1, 0, 0, 1])
        assert found.sentence.tolist() == ["d0.s0"] * 3 + ["d0.s2"] * 2
        assert found.document.tolist() == ["d0"] * 5
        assert found.n_self_pairs == 1
        assert len(found.sentences) == 3

    def test_documents_are_groups(self):
        documents = "".join(tag("document", sentence(id=f"d{k}.s0"), id=f"d{k}") for k in range(4))
        found = load(tag("corpus", documents))
        assert found.name == ""
        for train, test in GroupKFold(2).split(found.y, found.y, found.document):
            assert set(found.document[train]).isdisjoint(found.document[test])

    def test_no_pairs_and_no_sentences(self):
        for text in ("<corpus/>", corpus(), corpus(sentence(pairs=[]))):
            found = load(text)
            assert len(found) == 0
            assert found.pairs.shape == (0, 3)
            assert found.graphs() == []

    def test_tokens_that_an_entity_touches(self):
        # One character of a token is enough, the one after the entity is not part of it.
        offsets = {"4-6": (0, 1, 2), "5-5": (1,), "13-13,19-20": (4,), "18-20": (3, 4), "0-42": tuple(range(7))}
        for written, tokens in offsets.items():
            entity = tag("entity", id="e", text="", charOffset=written)
            (only,) = load(corpus(sentence(entities=[entity], pairs=[]))).sentences
            assert only.entities[0].tokens == tokens

    def test_characters_are_counted_not_bytes(self):
        text = "α\U0001f600β binds γ"
        tokens = [("α\U0001f600β", 0), ("binds", 4), ("γ", 10)]
        entity = tag("entity", id="e", text="γ", charOffset="10-10")
        made = corpus(sentence([entity], [], [analysis("split_parse", "split", tokens, [])], text=text))
        for encoding in ("utf-8", "utf-16"):
            declared = f'<?xml version="1.0" encoding="{encoding}"?>' + made
            (only,) = load(declared.encode(encoding)).sentences
            assert only.text == text
            assert only.entities[0].tokens == (2,)

    def test_what_is_not_of_the_format_is_ignored(self):
        extra = "<note><pair e1='x' e2='y'/><sentence/></note><!-- a comment --><?php?>"
        plain, more = (
            load(corpus(sentence())),
            load(corpus(extra + sentence(seqId="s7").replace("</pair>", extra + "</pair>"))),
        )
        assert more.sentences == plain.sentences
        np.testing.assert_array_equal(more.pairs, plain.pairs)

    def test_tokenizations_before_parses(self):
        parse, tokenization = SPLIT
        inner = tag("sentenceanalyses", tag("tokenizations", tokenization) + tag("parses", parse))
        made = tag("sentence", "".join(ENTITIES + PAIRS) + inner, id="d0.s0", text=TEXT)
        assert load(corpus(made)).sentences == load(corpus(sentence())).sentences

    @pytest.mark.parametrize("spelled", ["True", "true", "TRUE"])
    def test_spellings_of_truth(self, spelled):
        assert load(corpus(sentence(pairs=[PAIRS[0].replace("False", spelled)]))).y.tolist() == [1]


class TestFiles:
    @pytest.mark.parametrize(
        ("suffix", "compress"),
        [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)],
    )
    def test_compressed(self, tmp_path, suffix, compress):
        path = tmp_path / f"corpus.xml{suffix}"
        path.write_bytes(compress(corpus(sentence()).encode()))
        for source in (path, str(path)):
            assert load_ppi(source).sentences == load(corpus(sentence())).sentences

    def test_many_blocks(self):
        # Longer than what is read at once.
        many = [sentence(id=f"d0.s{k}") for k in range(1100)]
        text = corpus(*many)
        assert len(text) > 1 << 21
        found = load(text)
        assert len(found.sentences) == 1100
        assert found.sentences[1099][1:] == found.sentences[0][1:]

    def test_damaged_compression(self, tmp_path):
        path = tmp_path / "corpus.xml.gz"
        path.write_bytes(gzip.compress(corpus(sentence()).encode())[:-20])
        with pytest.raises(DataFormatError, match=r"corpus\.xml\.gz: damaged"):
            load_ppi(path)

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            load_ppi(tmp_path / "missing.xml")

    def test_the_name_is_in_the_message(self, tmp_path):
        path = tmp_path / "broken.xml"
        path.write_text("<corpus>\n<document>")
        with pytest.raises(DataFormatError, match=f"^{re.escape(str(path))}:2: <document> has no attribute id$"):
            load_ppi(path)


def changed(old, new, count=-1):
    made = corpus(sentence())
    assert old in made
    return made.replace(old, new, count)


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", r"1: not well-formed XML: no element found"),
            ("no XML", r"1: not well-formed XML: syntax error"),
            ("<html/>", r'1: expected <corpus> as the outermost element, got "html"'),
            ("<sentence/>", r'1: expected <corpus> as the outermost element, got "sentence"'),
            ("<corpus>\n<document id='d'></corpus>", r"2: not well-formed XML: mismatched tag"),
            (
                "<corpus>\n<token/></corpus>",
                r"2: <token> must be directly inside <tokenization>, but is inside <corpus>",
            ),
            ("<corpus><corpus/></corpus>", r"<corpus> must be the outermost element"),
            (changed(' text="talin"', ""), r'sentence "d0\.s0": <entity> has no attribute text'),
            (changed(' POS="NN"', ""), r"<token> has no attribute POS"),
            (changed("14-18", "14-"), r'charOffset must look like 12-15 or 12-15,20-23, got "14-"'),
            (changed("14-18", "-1-18"), r'got "-1-18"'),
            (changed("14-18", "١-٢"), r'charOffset must look like .*, got "١-٢"'),
            (changed("14-18", "9" * 5000 + "-1"), r'got "9{40}\.\.\."$'),
            (changed("14-18", "18-14"), r"charOffset 18-14 is not in the sentence, which has 43 characters"),
            (changed("24-28,34-41", "24-28,34-43"), r"charOffset 34-43 is not in the sentence"),
            (changed("42-42", "42-43"), r"charOffset 42-43 is not in the sentence"),
            (changed("20-22", "20-21,22-22"), r'a token has one range of characters, got "20-21,22-22"'),
            (changed('charOffset="14-18"', 'charOffset="13-13"', 1), r'no token has characters of entity "e1"'),
            (changed('t1="t3"', 't1="t33"'), r'<dependency> refers by t1 to an unknown token "t33"'),
            (changed('t2="t0" type="hyphen"', 't2="x"  type="hyphen"'), r'refers by t2 to an unknown token "x"'),
            (changed('e2="e3"', 'e2="e4"'), r'sentence "d0\.s0": <pair> refers by e2 to an unknown entity "e4"'),
            (changed('interaction="True"', 'interaction="1"', 1), r'interaction must be True or False, got "1"'),
            (changed('id="e1"', 'id="e0"'), r'a second <entity> with id "e0"'),
            (changed('id="t1" text="-"', 'id="t0" text="-"'), r'a second <token> with id "t0"'),
            (
                changed("split_parse", "other"),
                r'no parse with parser "split_parse"; the file has "Charniak-Lease", "other"',
            ),
            (corpus(sentence(analyses=())), r'no parse with parser "split_parse"; the file has none'),
            (corpus(sentence(analyses=(SPLIT, SPLIT))), r'a second <parse> with parser "split_parse"'),
            (
                changed('<tokenization tokenizer="split"', '<tokenization tokenizer="x"'),
                r'no tokenization with tokenizer "split"; the file has "Charniak-Lease", "x"',
            ),
        ],
    )
    def test_a_clear_message(self, text, message):
        with pytest.raises(DataFormatError, match=message) as caught:
            load(text)
        assert re.match(r"<stream>:[0-9]+: ", str(caught.value))

    def test_the_line_is_that_of_the_element(self):
        text = changed('e2="e3"', 'e2="e4"')
        line = text[: text.index('e2="e4"')].count("\n") + 1
        with pytest.raises(DataFormatError, match=f"^<stream>:{line}: sentence"):
            load(text)

    def test_a_tokenization_may_be_unused(self):
        # Only the parse that is asked for has to be right.
        broken = changed('t1="t1" t2="t3"', 't1="t1" t2="t99"')
        assert len(load(broken)) == 3
        with pytest.raises(DataFormatError, match="unknown token"):
            load(broken, parse="Charniak-Lease")

    @pytest.mark.parametrize("share", np.linspace(0.02, 0.98, 9))
    def test_truncated(self, share):
        text = corpus(sentence())
        with pytest.raises(DataFormatError, match=r"not well-formed XML: (no element found|unclosed token)"):
            load(text[: int(share * len(text))])

    def test_mutated_bytes_are_read_or_refused(self, rng):
        text = bytearray(corpus(sentence()).encode())
        n_refused = 0
        for _ in range(300):
            mutant = text.copy()
            for place in rng.integers(len(text), size=3):
                mutant[place] = rng.integers(256)
            try:
                load(bytes(mutant)).graphs()
            except DataFormatError:
                n_refused += 1
        assert n_refused > 100


BOMB = "<!DOCTYPE corpus [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


class TestMalice:
    @pytest.mark.parametrize(
        "doctype",
        [
            BOMB + "]>",
            "<!DOCTYPE corpus [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>",
            "<!DOCTYPE corpus SYSTEM 'file:///etc/hostname'>",
            "<!DOCTYPE corpus PUBLIC 'x' 'http://localhost/x.dtd'>",
            "<!DOCTYPE corpus [<!ENTITY % p SYSTEM 'file:///etc/hostname'> %p;]>",
            "<!DOCTYPE corpus [<!ATTLIST corpus source CDATA 'x'>]>",
            "<!DOCTYPE corpus>",
        ],
    )
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
    def test_declarations_are_refused(self, doctype, encoding):
        for entity in ("&i;", "&x;", ""):
            text = f"<?xml version='1.0' encoding='{encoding}'?>\n{doctype}" + corpus(source="s").replace(
                '"s"', f'"{entity}"'
            )
            with pytest.raises(
                DataFormatError, match=r"^<stream>:2: document type declarations are not accepted, for safety$"
            ):
                load(text.encode(encoding))

    def test_undeclared_entities(self):
        with pytest.raises(DataFormatError, match="undefined entity"):
            load("<corpus>&x;</corpus>")

    @pytest.mark.parametrize("encoding", ["shift_jis", "utf-7", "cp037", "unheard-of", "rot13"])
    def test_other_encodings(self, encoding):
        with pytest.raises(DataFormatError, match=f'the encoding must be one of utf-8, .*, got "{encoding}"'):
            load(f'<?xml version="1.0" encoding="{encoding}"?><corpus/>')

    def test_bytes_that_are_no_text(self):
        with pytest.raises(DataFormatError, match="invalid token"):
            load(b"<corpus source='\xff\xfe'/>")

    def test_too_large(self):
        text = corpus(sentence())
        assert len(load(text, max_bytes=len(text))) == 3
        with pytest.raises(
            DataFormatError, match=f"^<stream>: has more than {len(text) - 1} bytes after decompression"
        ):
            load(text, max_bytes=len(text) - 1)

    @pytest.mark.parametrize(
        ("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
    )
    def test_a_small_file_that_is_large(self, tmp_path, suffix, compress):
        path = tmp_path / f"bomb.xml{suffix}"
        path.write_bytes(compress(b"<corpus>" + b" " * (80 << 20)))
        assert path.stat().st_size < 1 << 18
        tracemalloc.start()
        try:
            with pytest.raises(DataFormatError, match="has more than 67108864 bytes after decompression"):
                load_ppi(path)
            assert tracemalloc.get_traced_memory()[1] < 1 << 24
        finally:
            tracemalloc.stop()

    def test_long_ids(self):
        for text in (corpus(sentence(id="s" * 101)), tag("corpus", tag("document", id="d" * 101))):
            with pytest.raises(DataFormatError, match="has an id of more than 100 characters"):
                load(text)
        assert load(corpus(sentence(id="s" * 100))).sentence[0] == "s" * 100

    def test_long_sentences(self):
        many = [tag("entity", id=f"e{k}", text="talin", charOffset="14-18") for k in range(2001)]
        tokens = analysis("split_parse", "split", [("talin", 14)] * 2001, [])
        ranges = [*ENTITIES, tag("entity", id="e4", text="talin", charOffset=",".join(["14-18"] * 2001))]
        for text in (sentence(entities=many), sentence(analyses=(tokens,)), sentence(entities=ranges)):
            with pytest.raises(DataFormatError, match="more than 2000 tokens, or ranges of entities, in a sentence"):
                load(corpus(text))

    def test_deep_nesting(self):
        n = 200_000
        assert len(load(b"<corpus>" + b"<a>" * n + b"</a>" * n + b"</corpus>")) == 0

    def test_messages_are_short_and_printable(self):
        with pytest.raises(DataFormatError) as caught:
            load(changed('e2="e3"', f'e2="&#10;{"e" * 10_000}"'))
        assert len(str(caught.value)) < 200
        assert str(caught.value).isprintable()


class TestGraphs:
    def test_entities_in_the_order_of_the_text(self):
        graphs = load(corpus(sentence())).graphs()
        assert [graph.labels[3][0] for graph in graphs] == ["PROT1_IP", "PROT2_IP", "PROT"]
        assert [graph.labels[0][0] for graph in graphs] == ["PROT", "PROT1_IP", "PROT"]
        assert [graph.labels[5][0] for graph in graphs] == ["PROT2_IP", "PROT", "PROT1"]

    def test_entities_in_the_order_of_the_file(self):
        graphs = load(corpus(sentence())).graphs(order="file")
        assert [graph.labels[3][0] for graph in graphs] == ["PROT2_IP", "PROT2_IP", "PROT"]
        assert [graph.labels[5][0] for graph in graphs] == ["PROT1_IP", "PROT", "PROT1"]

    def test_the_order_changes_names_only(self):
        found = load(corpus(sentence()))
        for one, other in zip(found.graphs(), found.graphs(order="file"), strict=True):
            np.testing.assert_array_equal(one.weights, other.weights)
            np.testing.assert_array_equal(one.edges, other.edges)

    def test_equal_starts_are_told_apart_by_their_ends(self):
        tokens = [("a", 0), ("b", 2), ("c", 4)]
        entities = [
            tag("entity", id="long", text="", charOffset="0-4"),
            tag("entity", id="short", text="", charOffset="0-0"),
        ]
        for first, second in (("long", "short"), ("short", "long")):
            pairs = [tag("pair", e1=first, e2=second, interaction="False")]
            made = sentence(entities, pairs, [analysis("split_parse", "split", tokens, [])], text="a b c")
            (graph,) = load(corpus(made)).graphs()
            assert [labels[0] for labels in graph.labels[:3]] == ["PROT1", "PROT2", "PROT2"]

    def test_parameters_are_passed_on(self):
        graph = load(corpus(sentence())).graphs(path_weight=0.5, entity_labels=("X", "Y", "Z"))[0]
        assert graph.labels[0] == ("Z", "NN")
        assert 0.5 in graph.weights
        with pytest.raises(TypeError, match="unknown"):
            load(corpus(sentence())).graphs(unknown=1)
        with pytest.raises(ValueError, match='order must be "text" or "file"'):
            load(corpus(sentence())).graphs(order="random")


@pytest.mark.skipif("KERNELRANK_DATA" not in os.environ, reason="KERNELRANK_DATA names no folder with real data")
@pytest.mark.parametrize("parse", ["split_parse", "Charniak-Lease"])
@pytest.mark.parametrize(
    ("file", "name", "n_sentences", "n_documents", "positive", "negative"),
    [
        ("AImed", "AIMed", 1955, 225, 1000, 4834),
        ("BioInfer", "BioInfer", 1100, 836, 2534, 7132),
        ("HPRD50", "HPRD50", 145, 43, 163, 270),
        ("IEPA", "IEPA", 486, 200, 335, 482),
        ("LLL", "LLL", 77, 45, 164, 166),
    ],
)
def test_published_counts(parse, file, name, n_sentences, n_documents, positive, negative):
    path = Path(os.environ["KERNELRANK_DATA"], "ppi", f"{file}-learning-format.xml.xz")
    found = load_ppi(path, parse=parse)
    assert found.name == name
    assert len(found.sentences) == n_sentences
    assert len({sentence.document for sentence in found.sentences}) == n_documents
    assert np.bincount(found.y).tolist() == [negative, positive]
    assert found.n_self_pairs == 0
    graphs = found.graphs()
    assert len(graphs) == len(found)
    for graph, (number, _, _) in zip(graphs, found.pairs, strict=True):
        sentence = found.sentences[number]
        assert len(graph.labels) == 2 * len(sentence.tokens) + len(set(sentence.dependencies))
        assert sum("PROT1" in labels[0] for labels in graph.labels) >= 2
