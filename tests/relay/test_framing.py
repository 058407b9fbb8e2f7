"""Bytes to lines and back, and the sieve that skips what can't matter."""

from hypothesis import given
from hypothesis import strategies as st

from planwire.relay.framing import Block, Framer, Sieve

PIECES = st.lists(st.binary(max_size=12) | st.sampled_from([b"\n", b"a\nb", b"\n\n", b'"plan"']), max_size=30)


def framed(chunks: list[bytes], longest: int) -> list[tuple[bytes, bool]]:
    framer = Framer(longest)
    blocks = [block for chunk in chunks if chunk for block in framer.feed(chunk)]
    return [(block.data, block.lines) for block in (*blocks, *framer.end())]


@given(PIECES, st.integers(1, 40))
def test_what_goes_in_comes_out_in_order(chunks: list[bytes], longest: int) -> None:
    assert b"".join(data for data, _ in framed(chunks, longest)) == b"".join(chunks)


@given(PIECES, st.integers(1, 40))
def test_blocks_of_lines_hold_whole_lines_only(chunks: list[bytes], longest: int) -> None:
    blocks = framed(chunks, longest)
    for number, (data, lines) in enumerate(blocks):
        if lines:
            before = b"".join(earlier for earlier, _ in blocks[:number])
            assert not before or before.endswith(b"\n")
            assert data.endswith(b"\n") or number == len(blocks) - 1


@given(PIECES, st.integers(1, 40))
def test_a_line_that_fits_is_always_looked_into(chunks: list[bytes], longest: int) -> None:
    looked_into = [lines for data, lines in framed(chunks, longest) for _ in data]
    at = 0
    for line in b"".join(chunks).splitlines(keepends=True) if b"\r" not in b"".join(chunks) else ():
        if len(line) <= longest and line.endswith(b"\n"):
            assert all(looked_into[at : at + len(line)])
        at += len(line)


def test_a_line_over_the_limit_is_passed_on_piece_by_piece() -> None:
    framer = Framer(longest=4)
    assert framer.feed(b"ab") == []
    assert framer.feed(b"cde") == [Block(b"abcde", lines=False, begins=True)]
    assert framer.feed(b"f") == [Block(b"f", lines=False)]
    assert framer.feed(b"g\nhi\nj") == [Block(b"g\n", lines=False), Block(b"hi\n")]
    assert framer.feed(b"klmno\n") == [Block(b"jklmno\n", lines=False, begins=True)]
    assert framer.end() == []


WORDS = (b'"id"', b'"plan')


@given(
    st.lists(
        st.sampled_from(
            [
                b"",
                b"{}",
                b'{"id":1}',
                b'{"x":"\\"id\\""}',
                b'"plan_update"',
                b"\\u0070lan",
                b"\\u00e9",
                b"text",
                b"\\u00",
            ]
        ),
        max_size=12,
    )
)
def test_the_sieve_finds_every_line_with_a_word_and_no_line_twice(lines: list[bytes]) -> None:
    block = b"\n".join(lines)
    sieve = Sieve(WORDS)
    for _ in range(2):  # it remembers what it found last
        found = list(sieve.lines(block))
        assert found == sorted(set(found))
        pieces = [block[start:end] for start, end in found]
        assert all(piece.count(b"\n") <= 1 for piece in pieces)
        kept = iter(pieces)
        for line in block.splitlines(keepends=True):
            if any(word in line for word in WORDS) or b"\\u007" in line:
                assert line in kept  # in order


def test_a_word_spelled_with_escapes_is_found_and_an_accent_is_not() -> None:
    sieve = Sieve((b'"plan',))
    assert list(sieve.lines(b'{"\\u0070lan":1}\n')) == [(0, 16)]
    assert list(sieve.lines(b'{"caf\\u00e9":1}\n' * 2)) == []  # one line alone is always looked into
    assert list(sieve.lines(b"\\u00e9 \\u0041\n")) == [(0, 14)]


def test_words_that_matter_for_a_while_are_found_while_they_do() -> None:
    more: list[bytes] = [b"c"]
    sieve = Sieve((b"a",), lambda: tuple(more))
    block = b"c1\nc2\nb\na\nc3\nb\n" * 2_000
    assert not sieve.skips(b"c\n")
    found = []
    for start, end in sieve.lines(block):
        found.append(block[start:end])
        if found[-1] == b"c2\n":
            more.clear()
    assert found == [b"c1\n", b"c2\n", *[b"a\n"] * 2_000]
    assert sieve.skips(b"c\n")
