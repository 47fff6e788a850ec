"""Plain reference implementation of an svmlight reader, and a mutator of such files."""

import re
from typing import NamedTuple

import numpy as np

NUMBER = re.compile(rb"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf(inity)?)", re.IGNORECASE)
LARGEST_INDEX = 2**63 - 2


class Refused(Exception):
    def __init__(self, line):
        self.line = line


class Rows(NamedTuple):
    y: list
    rows: list  # of {index as written: value}
    qid: list | None  # of text
    comments: list | None
    first_index: int
    n_features: int

    def csr_parts(self):
        data = [value for row in self.rows for _, value in sorted(row.items())]
        indices = [index - self.first_index for row in self.rows for index in sorted(row)]
        return data, indices, np.cumsum([0] + [len(row) for row in self.rows])


def read(data, *, n_features=None, zero_based="auto"):
    """Parse a whole file, or raise Refused with the number of the incorrect line."""
    y, rows, qid, comments, lines = [], [], [], [], []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        text, _, comment = line.removesuffix(b"\r").partition(b"#")
        tokens = [token for token in re.split(rb"[ \t]+", text) if token]
        if not tokens:
            continue
        y.append(_number(tokens.pop(0), number))
        if tokens and tokens[0].startswith(b"qid:"):
            qid.append(_decode(tokens.pop(0)[4:]))
            if re.fullmatch("|.*[\r\v\f].*", qid[-1]):
                raise Refused(number)
        if len(qid) not in (0, len(y)):
            raise Refused(number)
        rows.append(_row(tokens, number, n_features, zero_based))
        comments.append(_decode(comment.strip(b" \t\r")))
        lines.append(number)
    used = [index for row in rows for index in row]
    first_index = {True: 0, False: 1, "auto": 0 if 0 in used else 1}[zero_based]
    n_used = max(used) + 1 - first_index if used else 0
    if n_features is not None and n_used > n_features:
        raise Refused(next(line for line, row in zip(lines, rows, strict=True) if max(used) in row))
    return Rows(
        y,
        rows,
        qid or None,
        comments if any(comments) else None,
        first_index,
        n_used if n_features is None else n_features,
    )


def _row(tokens, number, n_features, zero_based):
    row = {}
    for token in tokens:
        index, colon, value = token.partition(b":")
        if not re.fullmatch(rb"\d+", index) or not colon:
            raise Refused(number)
        index = int(index)
        beyond = n_features is not None and index > n_features - (zero_based is True)
        if index in row or index > LARGEST_INDEX or beyond or (index == 0 and zero_based is False):
            raise Refused(number)
        row[index] = _number(value, number)
    return row


def _number(text, number):
    if not NUMBER.fullmatch(text):
        raise Refused(number)
    value = float(text)
    if np.isinf(value) and b"i" not in text.lower():
        raise Refused(number)
    return value


def _decode(text):
    return text.decode("utf-8", "surrogateescape")


TOKENS = (
    *(b"0:1", b"1:2", b"3:-0.5", b"12:1e-3", b"007:7", b"0000000000000000000000009:9", b"1:.5", b"2:5.", b"4:+4"),
    *(b"nan", b"-inf", b"3:NaN", b"4:Infinity", b"1e999", b"5:1e999", b"5:-1e-999", b"6:5e-324", b"0x10", b"7:0x1p3"),
    *(b"qid:7", b"qid:", b"qid:007", b"qid:-3", b"qid:q\xc3\xa9", b"qid:\xff", b"sid:1", b"cost:0.5", b"abc", b"1,2"),
    *(b"2147483647:1", b"2147483648:1", b"9223372036854775806:1", b"9223372036854775807:1", b"99999999999999999999:1"),
    *(
        b":",
        b"1:",
        b":1",
        b"1:2:3",
        b"+1:2",
        b"-1:2",
        b"1:--2",
        b"1:1_0",
        b"1:.",
        b"1:e5",
        b"1:1e",
        b"1:1e+",
        b"1:nan(1)",
    ),
    *(
        b"#",
        b"# a # b",
        b"\r",
        b"\r\n",
        b"\n",
        b"\n\n",
        b"\t",
        b" ",
        b"\x00",
        b"\xff",
        b"\x0b",
        b"\xef\xbb\xbf",
        b"\x1f\x8b",
    ),
    *(b"8:123456789012345678901234567890", b"8:0.000000000000000000000000000001", b"8:9007199254740993", b"+1", b"-0"),
)


def random_file(random):
    """Return a random file; it follows the format, except that an index may occur twice."""
    with_qid, with_comments = random.random() < 0.6, random.random() < 0.5
    end = random.choice([b"\n", b"\n", b"\r\n"])
    first, text_ids = random.choice([0, 1, 1]), random.random() < 0.3
    lines = []
    for row in range(random.randrange(6)):
        tokens = [b"%d" % random.randrange(-1, 4)]
        if with_qid:
            tokens.append(b"qid:q%d" % (row // 2) if text_ids else b"qid:%d" % (row // 2))
        indices = random.sample(range(first, first + 12), random.randrange(6))
        indices = indices if random.random() < 0.2 else sorted(indices)
        tokens += [b"%d:%s" % (index, _random_number(random)) for index in indices]
        if with_comments and random.random() < 0.8:
            tokens.append(b"# docid = %d" % random.randrange(1000))
        lines.append(random.choice([b" ", b" ", b"  ", b"\t"]).join(tokens))
    return end.join(lines) + random.choice([end, b""])


def _random_number(random):
    kind = random.randrange(4)
    if kind == 0:
        return b"%d" % random.randrange(-9, 10)
    if kind == 1:
        return b"%.6f" % random.uniform(-10, 10)
    return repr(random.uniform(-1, 1) * 10.0 ** random.randrange(-320, 300 if kind == 2 else 3)).encode()


def mutate(data, random):
    """Flip, insert or delete bytes, repeat or cut lines, or insert a token."""
    at = random.randrange(len(data) + 1)
    kind = random.randrange(7)
    if kind == 0 and at < len(data):
        return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]
    if kind == 1:
        return data[:at] + bytes([random.randrange(256)]) + data[at:]
    if kind == 2:
        return data[:at] + data[at + random.randrange(1, 5) :]
    if kind == 3:
        lines = data.split(b"\n")
        line = random.randrange(len(lines))
        return b"\n".join(lines[: line + 1] + lines[line:])
    if kind == 4:
        return data[:at]
    tokens = re.split(rb"([ \t]+|\r?\n)", data)
    place = random.randrange(len(tokens))
    spliced = random.choice([random.choice(TOKENS), random.choice(tokens)])
    if kind == 5:
        return b"".join([*tokens[:place], spliced, *tokens[place + 1 :]])
    return b"".join([*tokens[:place], b" ", spliced, b" ", *tokens[place:]])
