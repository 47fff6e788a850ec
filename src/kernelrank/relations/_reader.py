"""Reader of corpora in the unified format of protein-protein interactions.

The file is parsed as a stream; the XML of only one sentence is in memory at a time. A document type declaration is an
error: without one, XML has neither expanding nor external entities, so no file can make the parser read another file or
exhaust the memory. The sizes of sentences and ids are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, NoReturn
from xml.parsers import expat

import numpy as np

from kernelrank._rules import COUNT, TEXT
from kernelrank.exceptions import DataFormatError
from kernelrank.io._files import PathOrFile, name_of, open_for_reading
from kernelrank.relations._corpus import Dependency, Entity, PPICorpus, Sentence, Token

_BLOCK_BYTES = 1 << 20
_MOST_BYTES = 1 << 26  # the largest of the five corpora has 15 million
_MOST_QUOTED = 40
_LONGEST_ID = 100  # arrays of ids are as wide as the longest
_MOST_IN_SENTENCE = 2000  # tokens, and ranges of entities: every range is compared with every token
_ENCODINGS = ("utf-8", "utf-16", "us-ascii", "iso-8859-1")  # that every XML parser knows
_OFFSETS = re.compile("[0-9]{1,9}-[0-9]{1,9}(,[0-9]{1,9}-[0-9]{1,9})*")
_INTERACTIONS = {"true": 1, "false": 0}

# Elements, each with its parent and the attributes that are read. Others are ignored.
_FORMAT: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "corpus": (None, ()),
    "document": ("corpus", ("id",)),
    "sentence": ("document", ("id", "text")),
    "entity": ("sentence", ("id", "text", "charOffset")),
    "pair": ("sentence", ("e1", "e2", "interaction")),
    "sentenceanalyses": ("sentence", ()),
    "parses": ("sentenceanalyses", ()),
    "parse": ("parses", ("parser", "tokenizer")),
    "dependency": ("parse", ("t1", "t2", "type")),
    "tokenizations": ("sentenceanalyses", ()),
    "tokenization": ("tokenizations", ("tokenizer",)),
    "token": ("tokenization", ("id", "text", "POS", "charOffset")),
}


def load_ppi(source: PathOrFile, *, parse: str = "split_parse", max_bytes: int = _MOST_BYTES) -> PPICorpus:
    """Read a corpus of protein-protein interactions in the unified format, with parses.

    Five corpora were published in this format with [1]_: AIMed, BioInfer, HPRD50, IEPA and LLL.

    Parameters
    ----------
    source : str, path or binary file object
        A name that ends with ``.gz``, ``.xz`` or ``.bz2`` is decompressed; ``"-"`` is standard input.
    parse : str, default="split_parse"
        Name of the parse to read. The published corpora have ``"Charniak-Lease"``, and ``"split_parse"``, in which
        words such as *actin-binding* are split, so that only the protein's name is replaced in graphs.
    max_bytes : int, default=2**26
        Largest accepted size of the file after decompression.

    Returns
    -------
    PPICorpus
        Sentences with tokens, dependencies and entities; pairs of entities with their labels, sentences and documents.
        Its method ``graphs`` represents the pairs as graphs.

    Raises
    ------
    DataFormatError
        If the file is damaged, too large, or does not follow the format: a sentence without the parse, a reference
        to an unknown token or entity, an offset outside the sentence, an entity without a token. The message
        starts with the file and the line.

    Notes
    -----
    The format has elements ``corpus/document/sentence``; a sentence has elements ``entity``, ``pair`` and, inside
    ``sentenceanalyses``, ``parses/parse/dependency`` and ``tokenizations/tokenization/token``. A parse names its
    tokenization. Offsets in the file count characters from 0 and include the last one; an entity may have several
    ranges, ``21-24,30-33``. Tokens and entities are located by their offsets: the text that the file gives for them may
    differ from that of the sentence, and in BioInfer it sometimes does.

    Pairs of an entity with itself are left out and counted, as in [1]_.

    References
    ----------
    .. [1] A. Airola, S. Pyysalo, J. Björne, T. Pahikkala, F. Ginter, T. Salakoski (2008), "All-paths graph kernel
       for protein-protein interaction extraction with evaluation of cross-corpus learning", BMC Bioinformatics
       9(Suppl 11):S2.

    Examples
    --------
    >>> from io import BytesIO
    >>> from kernelrank.relations import load_ppi
    >>> corpus = load_ppi(
    ...     BytesIO(b'''
    ... <corpus source="tiny"><document id="d0"><sentence id="d0.s0" text="A binds B">
    ...   <entity id="e0" text="A" charOffset="0-0"/> <entity id="e1" text="B" charOffset="8-8"/>
    ...   <pair e1="e0" e2="e1" interaction="True"/>
    ...   <sentenceanalyses>
    ...     <parses><parse parser="split_parse" tokenizer="split">
    ...       <dependency t1="t2" t2="t1" type="nsubj"/> <dependency t1="t2" t2="t3" type="dobj"/>
    ...     </parse></parses>
    ...     <tokenizations><tokenization tokenizer="split">
    ...       <token id="t1" text="A" POS="NN" charOffset="0-0"/>
    ...       <token id="t2" text="binds" POS="VBZ" charOffset="2-6"/>
    ...       <token id="t3" text="B" POS="NN" charOffset="8-8"/>
    ...     </tokenization></tokenizations>
    ...   </sentenceanalyses>
    ... </sentence></document></corpus>'''.strip())
    ... )
    >>> corpus
    <PPICorpus tiny: 1 sentences, 1 pairs of which 1 interact>
    >>> corpus.y, corpus.document
    (array([1]), array(['d0'], dtype='<U2'))
    >>> corpus.sentences[0].entities[1]
    Entity(id='e1', text='B', spans=((8, 9),), tokens=(2,))
    >>> corpus.graphs()[0].labels[:3]
    (('PROT1_IP', 'NN_IP'), ('binds_IP', 'VBZ_IP'), ('PROT2_IP', 'NN_IP'))
    """
    TEXT("parse", parse)
    COUNT("max_bytes", max_bytes)
    reader = _Reader(name_of(source), parse)
    with open_for_reading(source) as handle:
        for block in _blocks(handle, max_bytes, reader.file):
            reader.feed(block)
    return reader.finish()


def _blocks(handle: IO[bytes], max_bytes: int, file: str) -> Iterator[bytes]:
    n_bytes = 0
    while block := handle.read(_BLOCK_BYTES):
        n_bytes += len(block)
        if n_bytes > max_bytes:
            raise DataFormatError(
                f"{file}: has more than {max_bytes} bytes after decompression; increase max_bytes to accept it."
            )
        yield block


@dataclass(slots=True)
class _Element:
    """Element of the file, the line where it begins, and its children."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[_Element] = field(default_factory=list)

    def find(self, tag: str) -> Iterator[_Element]:
        return (child for child in self.children if child.tag == tag)


class _FormatError(Exception):
    """Error in an element."""

    def __init__(self, element: _Element, problem: str) -> None:
        super().__init__(problem)
        self.line, self.problem = element.line, problem


class _Reader:
    """Parser that takes the file in blocks and collects sentences and pairs."""

    def __init__(self, file: str, parse: str) -> None:
        self.file = file
        self._parse = parse
        self._name = ""
        self._path: list[_Element] = []  # from the outermost element to the current one
        self._n_ignored = 0  # open elements inside the last of the path
        self._sentences: list[Sentence] = []
        self._pairs: list[tuple[int, int, int]] = []
        self._y: list[int] = []
        self._n_self_pairs = 0
        self._parser = expat.ParserCreate()
        self._parser.XmlDeclHandler = self._check_encoding
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def feed(self, block: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(block, last)
        except _FormatError as error:
            self._fail(error.line, error.problem)
        except expat.ExpatError as error:
            self._fail(error.lineno, f"not well-formed XML: {expat.ErrorString(error.code)}")

    def finish(self) -> PPICorpus:
        self.feed(b"", last=True)
        sentences = [self._sentences[number] for number, _, _ in self._pairs]
        return PPICorpus(
            name=self._name,
            sentences=tuple(self._sentences),
            pairs=np.array(self._pairs, dtype=np.intp).reshape(-1, 3),
            y=np.array(self._y, dtype=np.int64),
            sentence=np.array([sentence.id for sentence in sentences], dtype=np.str_),
            document=np.array([sentence.document for sentence in sentences], dtype=np.str_),
            n_self_pairs=self._n_self_pairs,
        )

    def _fail(self, line: int, problem: str) -> NoReturn:
        sentence = "".join(f"sentence {_quote(e.attributes['id'])}: " for e in self._path if e.tag == "sentence")
        raise DataFormatError(f"{self.file}:{line}: {sentence}{problem}") from None

    def _check_encoding(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            self._fail(1, f"the encoding must be one of {', '.join(_ENCODINGS)}, got {_quote(encoding)}")

    def _refuse_doctype(self, *_: object) -> None:
        self._fail(self._parser.CurrentLineNumber, "document type declarations are not accepted, for safety")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._path and (self._n_ignored or tag not in _FORMAT):
            self._n_ignored += 1
            return
        element = _Element(tag, attributes, self._parser.CurrentLineNumber)
        outside = self._path[-1].tag if self._path else None
        if outside is None and tag != "corpus":
            raise _FormatError(element, f"expected <corpus> as the outermost element, got {_quote(tag)}")
        place, required = _FORMAT[tag]
        if outside != place:
            expected = f"directly inside <{place}>" if place else "the outermost element"
            raise _FormatError(element, f"<{tag}> must be {expected}, but is inside <{outside}>")
        for name in required:
            if name not in attributes:
                raise _FormatError(element, f"<{tag}> has no attribute {name}")
        if len(attributes.get("id", "")) > _LONGEST_ID:
            raise _FormatError(element, f"<{tag}> has an id of more than {_LONGEST_ID} characters")
        if tag == "corpus":
            self._name = attributes.get("source", "")
        elif tag not in ("document", "sentence"):  # the elements of a finished sentence are not kept
            self._path[-1].children.append(element)
        self._path.append(element)

    def _end(self, tag: str) -> None:
        if self._n_ignored:
            self._n_ignored -= 1
            return
        if tag == "sentence":
            self._read_sentence(self._path[-2].attributes["id"], self._path[-1])
        self._path.pop()

    def _read_sentence(self, document: str, element: _Element) -> None:
        number = len(self._sentences)
        sentence = _make_sentence(document, element, self._parse)
        self._sentences.append(sentence)
        entities = {entity.id: k for k, entity in enumerate(sentence.entities)}
        for pair in element.find("pair"):
            first, second = (_look_up(pair, name, entities, "entity") for name in ("e1", "e2"))
            interaction = pair.attributes["interaction"]
            if interaction.lower() not in _INTERACTIONS:
                raise _FormatError(pair, f"interaction must be True or False, got {_quote(interaction)}")
            if first == second:
                self._n_self_pairs += 1
                continue
            self._pairs.append((number, first, second))
            self._y.append(_INTERACTIONS[interaction.lower()])


def _make_sentence(document: str, element: _Element, parse: str) -> Sentence:
    text = element.attributes["text"]
    analyses = [group for analysis in element.find("sentenceanalyses") for group in analysis.children]
    parses = [found for group in analyses for found in group.find("parse")]
    tokenizations = [found for group in analyses for found in group.find("tokenization")]
    parsed = _choose(element, parses, "parser", parse)
    tokenization = _choose(parsed, tokenizations, "tokenizer", parsed.attributes["tokenizer"])

    token_elements = tokenization.children
    n_ranges = sum(entity.attributes["charOffset"].count(",") + 1 for entity in element.find("entity"))
    if max(len(token_elements), n_ranges) > _MOST_IN_SENTENCE:
        raise _FormatError(element, f"more than {_MOST_IN_SENTENCE} tokens, or ranges of entities, in a sentence")
    numbers = _number(token_elements)
    tokens = []
    for token in token_elements:
        spans = _read_spans(token, len(text))
        if len(spans) > 1:
            raise _FormatError(
                token, f"a token has one range of characters, got {_quote(token.attributes['charOffset'])}"
            )
        tokens.append(Token(token.attributes["text"], token.attributes["POS"], *spans[0]))
    dependencies = tuple(
        Dependency(_look_up(d, "t1", numbers, "token"), _look_up(d, "t2", numbers, "token"), d.attributes["type"])
        for d in parsed.children
    )
    entity_elements = list(element.find("entity"))
    _number(entity_elements)
    entities = tuple(_make_entity(entity, len(text), tokens) for entity in entity_elements)
    return Sentence(element.attributes["id"], document, text, tuple(tokens), dependencies, entities)


def _make_entity(element: _Element, length: int, tokens: list[Token]) -> Entity:
    spans = _read_spans(element, length)
    covered = tuple(
        number
        for number, token in enumerate(tokens)
        if any(token.start < end and start < token.end for start, end in spans)
    )
    if not covered:
        raise _FormatError(element, f"no token has characters of entity {_quote(element.attributes['id'])}")
    return Entity(element.attributes["id"], element.attributes["text"], spans, covered)


def _choose(place: _Element, analyses: list[_Element], key: str, name: str) -> _Element:
    """Return the parse, or the tokenization, with a name."""
    found = [analysis for analysis in analyses if analysis.attributes[key] == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise _FormatError(found[1], f"a second <{found[1].tag}> with {key} {_quote(name)}")
    others = ", ".join(_quote(analysis.attributes[key]) for analysis in analyses[:5]) or "none"
    kind = "parse" if key == "parser" else "tokenization"
    raise _FormatError(place, f"no {kind} with {key} {_quote(name)}; the file has {others}")


def _number(elements: list[_Element]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for element in elements:
        name = element.attributes["id"]
        if name in numbers:
            raise _FormatError(element, f"a second <{element.tag}> with id {_quote(name)}")
        numbers[name] = len(numbers)
    return numbers


def _look_up(element: _Element, attribute: str, numbers: dict[str, int], kind: str) -> int:
    name = element.attributes[attribute]
    if name not in numbers:
        raise _FormatError(element, f"<{element.tag}> refers by {attribute} to an unknown {kind} {_quote(name)}")
    return numbers[name]


def _read_spans(element: _Element, length: int) -> tuple[tuple[int, int], ...]:
    """Return ranges of characters, ends excluded; the file includes them."""
    written = element.attributes["charOffset"]
    if not _OFFSETS.fullmatch(written):
        raise _FormatError(element, f"charOffset must look like 12-15 or 12-15,20-23, got {_quote(written)}")
    spans = []
    for span in written.split(","):
        start, last = map(int, span.split("-"))
        if not start <= last < length:
            raise _FormatError(element, f"charOffset {span} is not in the sentence, which has {length} characters")
        spans.append((start, last + 1))
    return tuple(spans)


def _quote(text: str) -> str:
    shown = text if len(text) <= _MOST_QUOTED else text[:_MOST_QUOTED] + "..."
    return '"' + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown) + '"'
