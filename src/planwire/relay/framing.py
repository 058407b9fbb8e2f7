"""Bytes in, whole lines out: as many as there are, in one block, without copying them.

The framer holds back a line whose end has not come yet, up to a limit. The pieces of a longer line leave unread as they
come, so memory stays bounded however long a line is.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

#: Bytes of the longest line that is read.
LONGEST_LINE: Final = 16 * 1024 * 1024
#: Why a plan in a longer line is not recorded.
TOO_LONG: Final = f"a line with a plan had more than {LONGEST_LINE >> 20} MiB"


class Block(NamedTuple):
    """Bytes to pass on. `lines`: they are whole lines, and may be read. `begins`: a longer line begins with them."""

    data: bytes
    lines: bool = True
    begins: bool = False


class Framer:
    """Cuts one stream into blocks. What comes out is what went in, in order."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._held: list[bytes] = []
        self._size = 0
        self._passing = False

    @property
    def is_between_lines(self) -> bool:
        """Whether no line has come out half: another one may be put in between."""
        return not self._passing

    def feed(self, chunk: bytes) -> list[Block]:
        """The blocks that are complete with this chunk."""
        blocks = []
        if self._held or self._passing:
            end = chunk.find(b"\n") + 1
            if not end:
                return self._hold(chunk)
            blocks.append(self._finish(chunk[:end]))
            chunk = chunk[end:]
        end = chunk.rfind(b"\n") + 1
        if end:
            blocks.append(Block(chunk[:end]))
            chunk = chunk[end:]
        if chunk:
            blocks += self._hold(chunk)
        return blocks

    def end(self) -> list[Block]:
        """The input is at its end: a last line may lack its line feed."""
        return [self._finish(b"")] if self._held else []

    def _hold(self, piece: bytes) -> list[Block]:
        if not self._passing:
            self._held.append(piece)
            self._size += len(piece)
            if self._size <= self._longest:
                return []
            self._passing = True
            held, self._held, self._size = self._held, [], 0
            return [Block(b"".join(held), lines=False, begins=True)]
        return [Block(piece, lines=False)]

    def _finish(self, last: bytes) -> Block:
        if self._passing:
            self._passing = False
            return Block(last, lines=False)
        data = b"".join((*self._held, last))
        self._held, self._size = [], 0
        is_read = len(data) <= self._longest
        return Block(data, lines=is_read, begins=not is_read)


_SHORT: Final = 16 * 1024
_ESCAPE: Final = b"\\u00"
_LETTERS: Final = frozenset(b"4567")


class Sieve:
    """Finds the lines that may matter, by words that they must contain, and skips the others at the speed of memory.

    A word may be spelled with escapes (`\\u0070lan`): a line with an escaped letter may matter too. `more` gives
    further words that matter at the moment.
    """

    def __init__(self, words: Sequence[bytes], more: Callable[[], Sequence[bytes]] = tuple) -> None:
        self._always = (*words, _ESCAPE)
        self._more = more
        self._last = words[0]

    def skips(self, block: bytes) -> bool:
        """Whether a short block, of one line or a few, certainly holds no line that may matter."""
        return len(block) < _SHORT and not any(word in block for word in self._words())

    def _words(self) -> Sequence[bytes]:
        more = self._more()
        return (*more, *self._always) if more else self._always

    def lines(self, block: bytes) -> Iterator[tuple[int, int]]:
        """Where the lines that may matter begin and end, in order."""
        length = len(block)
        if length < _SHORT and block.find(b"\n") == length - 1:
            yield 0, length
            return
        start = 0
        places: dict[bytes, int] = {}  # where each word comes next; the length of the block if nowhere
        while start < length:
            end = block.find(b"\n", start) + 1 or length
            if block.find(self._last, start, end) < 0:  # lines that matter often come one after the other
                words = self._words()
                for word in words:
                    if places.get(word, -1) < start:
                        places[word] = _find(block, word, start)
                word = min(words, key=places.__getitem__)
                at = places[word]
                self._last = self._always[0] if word is _ESCAPE else word
                if at == length:
                    return
                start, end = block.rfind(b"\n", start, at) + 1 or start, block.find(b"\n", at) + 1 or length
            yield start, end
            start = end


def _find(block: bytes, word: bytes, start: int) -> int:
    at = block.find(word, start)
    while word is _ESCAPE and at >= 0 and block[at + 4 : at + 5] and block[at + 4] not in _LETTERS:
        at = block.find(word, at + 4)
    return at if at >= 0 else len(block)
