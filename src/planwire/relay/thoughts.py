"""The why of a plan, overheard: what an agent thought and said right before it.

Thoughts come in thousands of small pieces, most of which no plan ever needs. So the relay keeps the newest bytes that
pass by as they are, of all sessions together, and reads them only when a plan comes that is news.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec import Struct

from planwire.acp.batches import split_batch
from planwire.model.text import newest

#: Bytes that are kept as they came. A piece of a few letters takes two hundred, so this holds all that is ever told.
WINDOW: Final = 256 * 1024
#: The most bytes told of messages and of thoughts: those closest to the plan, 4 KiB with the gap between them.
_GAP: Final = "\n\n"
MESSAGE_CAP: Final = 1024
THOUGHT_CAP: Final = 4 * 1024 - MESSAGE_CAP - len(_GAP)

_WORD: Final = b'"agent_'
_ESCAPE: Final = b"\\u00"
#: The updates with an agent's words, and whether these are thoughts.
SAYINGS: Final = {
    "agent_thought_chunk": True,
    "agent_thought": True,
    "agent_message_chunk": False,
    "agent_message": False,
}
#: The updates that hold a whole message, not a piece of one.
_WHOLE: Final = {"agent_thought", "agent_message"}
#: From this many characters on, a text that comes twice is no accident.
_REPEATED: Final = 20


class _SpokenContent(Struct):
    text: str | None = None


class _SpokenUpdate(Struct):
    sessionUpdate: str = ""  # noqa: N815  (as it is on the wire)
    content: _SpokenContent | list[_SpokenContent] | None = None
    messageId: str | None = None  # noqa: N815

    @property
    def text(self) -> str:
        blocks = self.content if isinstance(self.content, list) else [self.content] if self.content else []
        return "".join(each.text or "" for each in blocks)


class _SpokenParams(Struct):
    sessionId: str  # noqa: N815
    update: _SpokenUpdate


class _SpokenLine(Struct):
    params: _SpokenParams


_decode: Final = msgspec.json.Decoder(_SpokenLine).decode
#: Of a line with more bytes than this, only the end of its words is kept: no more of them is ever told.
_LONG: Final = 16 * 1024


class Overheard:
    """The newest bytes of an agent's words, unread and in whole lines. `end` counts all that were ever kept.

    One thread lets them pass, without a lock, so that the stream never waits. Others may read `end`.
    """

    def __init__(self, most: int = WINDOW) -> None:
        self.end = 0
        self._most = most
        self._size = 0
        self._blocks: deque[tuple[int, bytes]] = deque()  # each with the end of what passed with it

    def pass_by(self, block: bytes) -> None:
        """Keep lines that passed unread, if an agent's words may be in them."""
        if _WORD in block:
            self.keep(block)

    def keep(self, block: bytes) -> None:
        """Keep lines with an agent's words, and let the oldest go."""
        if len(block) > self._most:
            block = b"\n".join(map(_shortened, block.splitlines()))[-self._most :]
        self.end += len(block)
        self._size += len(block)
        self._blocks.append((self.end, block))
        while self._size > self._most:
            self._size -= len(self._blocks.popleft()[1])

    def lines(self, after: int) -> Iterator[bytes]:
        """The lines after a place, as far as they are still there."""
        for end, block in self._blocks.copy():  # at once: more may pass by meanwhile
            if end > after:
                yield from block.splitlines()


class SessionThoughts:
    """The thoughts of one session since its last plan or prompt."""

    def __init__(self, session: str, overheard: Overheard) -> None:
        self._session = session
        self._overheard = overheard
        self._after = 0

    def begin(self) -> None:
        """Leave behind what was said so far: it is about something else."""
        self._after = self._overheard.end

    def take(self) -> str:
        """What was thought and said since, "" if nothing was."""
        after = self._after
        if after == self._overheard.end:
            return ""
        self.begin()
        return why_of(self._updates(after))

    def _updates(self, after: int) -> Iterator[_SpokenUpdate]:
        for line in self._overheard.lines(after):
            if _WORD in line or _ESCAPE in line:
                for message in split_batch(line) or (line,):
                    try:
                        params = _decode(message).params
                    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                        continue
                    if params.sessionId == self._session:
                        yield params.update


def _shortened(line: bytes) -> bytes:
    """A long line cut to the end of its words, so that it can still be read as a whole."""
    if len(line) <= _LONG:
        return line
    try:
        spoken = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return b""
    update = spoken.params.update
    update.content = _SpokenContent(newest(update.text, THOUGHT_CAP))
    return msgspec.json.encode(spoken)


def why_of(updates: Iterable[_SpokenUpdate]) -> str:
    """The words of an agent's updates, its thoughts before its messages, each within its bound.

    Pieces of one message are joined, and a whole message takes the place of its pieces. A message that comes again
    without an id is told once: some agents repeat at the end what they streamed.
    """
    words: dict[tuple[bool, str | int], str] = {}
    run, last = 0, None
    for update in updates:
        is_thought = SAYINGS.get(update.sessionUpdate)
        if is_thought is None:
            continue
        run += is_thought is not last
        last = is_thought
        key = is_thought, run if update.messageId is None else update.messageId
        before, text = words.get(key, ""), update.text
        is_again = len(before) >= _REPEATED and text.endswith(before)
        words[key] = text if is_again or update.sessionUpdate in _WHOLE else before + text
    told = [
        newest(_GAP.join(_once(text for (kind, _), text in words.items() if kind == is_thought)), cap)
        for is_thought, cap in ((True, THOUGHT_CAP), (False, MESSAGE_CAP))
    ]
    return _GAP.join(filter(None, told))


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, map(str.strip, texts))))
