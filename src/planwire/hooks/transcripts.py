"""Transcripts: what agents keep of past sessions, read as if hooks had reported it at the time.

The formats are private and change from version to version. So each line is read by itself, and a line that is damaged,
or of an unknown kind, is left out alone. A reader for each format (`claude_transcript`, …) turns lines into `Past`
values; `transcript_files` finds the files.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from planwire.hooks.happenings import Child, HookCall
from planwire.model.plan import Fields

#: The event of everything that comes from a transcript.
TRANSCRIPT: Final = "transcript"
#: The most calls that may wait for their results.
_MOST_CALLS: Final = 1_000

_TIME: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:Z|([+-])(\d\d):?(\d\d))?\Z", re.ASCII
)
_DAY: Final = 86_400_000


class Keep(Struct, frozen=True):
    """What to keep of a transcript besides its plans: what people asked, and what the agent thought."""

    prompts: bool = False
    thoughts: bool = False


class TranscriptHead(Struct, frozen=True):
    """What the first lines of a transcript say: whose it is, and where the session began. `child` is the sub-agent
    whose part of the session it is, `path` the file itself."""

    session: str
    folder: str | None = None
    child: Child | None = None
    path: str = ""


class Past(Struct, frozen=True):
    """Something that happened in a past session, and when (Unix time in milliseconds). `thought` is what the agent
    thought and said right before it."""

    at: int
    heard: HookCall
    thought: str = ""


ReadTranscript: TypeAlias = Callable[[TranscriptHead, Iterable[Fields], Keep], Iterator[Past]]


class PastCall(Struct, frozen=True):
    """A tool call that waits for its result, and the thought before it."""

    name: str
    arguments: object
    thought: str = ""


class PastCalls:
    """The calls of a transcript that wait for their results, by id, and the thoughts since the last call. A session may
    have any number of calls without a result."""

    def __init__(self, keep: Keep) -> None:
        self._open: dict[str, PastCall] = {}
        self._thoughts: list[str] | None = [] if keep.thoughts else None

    def think(self, text: str) -> None:
        """What the agent thinks or says before its next call."""
        if self._thoughts is not None and text.strip():
            self._thoughts.append(text)

    def begin(self, key: str, name: str, arguments: object) -> PastCall:
        """A call, with all thoughts since the last one."""
        if len(self._open) >= _MOST_CALLS:
            del self._open[next(iter(self._open))]
        self._open[key] = call = PastCall(name, arguments, self.thought())
        return call

    def end(self, key: str) -> PastCall | None:
        """The call whose result is there."""
        return self._open.pop(key, None)

    def thought(self) -> str:
        """What the agent thought since its last call, for a plan that is no call."""
        text = "\n\n".join(self._thoughts or ())
        self.forget()
        return text

    def forget(self) -> None:
        """Drop the thoughts: those of another turn say nothing about this one's plans."""
        if self._thoughts is not None:
            self._thoughts = []


def records(lines: Iterable[bytes]) -> Iterator[Fields]:
    """The records of a file with a JSON object on each line, without the lines that hold none."""
    for line in lines:
        try:
            record = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def instant(text: str) -> int | None:
    """A time as transcripts write it (`2026-11-16T18:11:06.352Z`), as Unix time in milliseconds; None if it is none."""
    found = _TIME.match(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second <= 60):
        return None
    fraction, sign, hours, minutes = found.groups()[6:]
    shift = (int(hours) * 60 + int(minutes)) * (-1 if sign == "-" else 1) if sign else 0
    clock = ((hour * 60 + minute - shift) * 60 + second) * 1_000 + int((fraction or "0").ljust(3, "0")[:3])
    return max(_days(year, month, day) * _DAY + clock, 0)


def _days(year: int, month: int, day: int) -> int:
    """The days since 1970, counted in years that begin in March, so that a leap day is the last of its year."""
    year -= month < 3
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + of_year - 719_468
