"""What clients of a journal asked for and were told, in the order in which it was heard."""

from functools import lru_cache
from random import Random
from typing import Final

import msgspec
from msgspec import Struct

from planwire.model.events import COMMENT, Event, MessageAdded, PlanReviewed, Remarked, TurnEnded

__all__ = [
    "APPENDS",
    "FORGET",
    "Call",
    "Done",
    "Ended",
    "Heard",
    "Line",
    "event_of",
    "line_of",
    "text_of",
    "token_of",
]

#: The kinds of calls that append, by what they ask for.
BLIND: Final = "blind"
EXPECTED: Final = "expected"
ONCE: Final = "once"
VERDICT: Final = "verdict"
APPENDS: Final = (BLIND, EXPECTED, ONCE, VERDICT)
FORGET: Final = "forget"


class Call(Struct, frozen=True, omit_defaults=True, tag="call"):
    """A client's n-th call. Each token names an event, or a lease, that is nowhere else."""

    client: str
    n: int
    kind: str
    session: str = ""
    tokens: tuple[str, ...] = ()
    expected: int | None = None
    is_away: bool = False


class Done(Struct, frozen=True, omit_defaults=True, tag="done"):
    """What became of a call: `ok` (with the numbers of its events), `refused` (nothing was written), or `unknown`."""

    client: str
    n: int
    outcome: str
    seqs: tuple[int, ...] = ()
    seconds: float = 0.0
    why: str = ""


class Heard(Struct, frozen=True, tag="heard"):
    """An event that a follower was given."""

    client: str
    position: int
    session: str
    seq: int
    token: str


class Ended(Struct, frozen=True, tag="ended"):
    """A process of a client is gone: killed, or at its end with this code."""

    client: str
    code: int


Line = Call | Done | Heard | Ended
_LETTERS: Final = ("x", "ä", "\n", "\x1e")
_decoder: Final[msgspec.json.Decoder[Line]] = msgspec.json.Decoder(Line)


def line_of(text: bytes) -> Line | None:
    """A line as a client said it; None if it was killed in the middle."""
    try:
        return _decoder.decode(text)
    except msgspec.DecodeError:
        return None


def _size_of(token: str) -> int:
    """How long the text of an event is: mostly short, some of pages, a few of very many."""
    draw = Random(token)
    return draw.randrange(draw.choice([1, 60, 60, 60, 800, 5_000, 90_000 if draw.random() < 0.1 else 60]))


@lru_cache(4_096)
def text_of(token: str) -> str:
    """The text of the event with this token, whichever process asks."""
    return f"{token} {Random(token).choice(_LETTERS) * _size_of(token)}"


def event_of(token: str, kind: str) -> Event:
    if kind == VERDICT:
        return PlanReviewed(text_of(token), 1, "approved")
    match Random(token).randrange(3):
        case 0:
            return TurnEnded(text_of(token))
        case 1:
            return Remarked(None, COMMENT, text_of(token))
        case _:
            return MessageAdded({"role": "user", "content": text_of(token)})


def token_of(event: Event) -> str:
    """The token of an event that says all of its text; its whole text, if that was changed."""
    match event:
        case TurnEnded(text) | PlanReviewed(text):
            pass
        case Remarked():
            text = event.text
        case MessageAdded():
            text = str(event.message.get("content"))
        case _:
            return f"?{type(event).__name__}"
    token = (text or "").partition(" ")[0]
    return token if text == text_of(token) else f"?{text}"[:200]
