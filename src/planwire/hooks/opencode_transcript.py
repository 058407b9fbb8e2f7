"""opencode's past sessions, by the parts of their messages. `opencode_database` finds and orders them.

A record is one part: `{"at": …, "role": …, "part": {…}, "error": …}`. Parts that opencode or a plugin wrote into a
person's message say so.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from planwire.hooks.happenings import Compacted, Titled
from planwire.hooks.loose_fields import fields_in, id_in, text_in
from planwire.hooks.opencode import NAME
from planwire.hooks.past_reading import PastReading
from planwire.hooks.transcripts import Keep, Past, TranscriptHead
from planwire.model.plan import Fields
from planwire.model.stop_reasons import STOP_CANCELLED

_PLAN_FILE: Final = re.compile(r"[\\/]\.?opencode[\\/]plans[\\/][^\\/]+\.md\Z")
#: The beginnings of parts that opencode wrote, in versions that do not mark them.
_MACHINE_MADE: Final = ("<system-reminder>",)
_UNTITLED: Final = re.compile(r"(?:New|Child) session - ")
_ABORTED: Final = "MessageAbortedError"


def read(head: TranscriptHead, records: Iterable[Fields], keep: Keep, title: str = "") -> Iterator[Past]:
    """What happened in a session, or in that of a sub-agent, in the order of its parts."""
    reading = PastReading(NAME, head, keep, lambda path: _PLAN_FILE.search(path) is not None)
    for each in records:
        at, part = each.get("at"), fields_in(each, "part")
        yield from reading.moment(at if isinstance(at, int) else None)
        match text_in(part, "type"), text_in(each, "role"):
            case "text", "user" if part.get("synthetic") is not True:
                text = text_in(part, "text")
                if text.strip() and not text.startswith(_MACHINE_MADE):
                    yield from reading.prompt(text)
            case (("text" | "reasoning"), "assistant"):
                reading.calls.think(text_in(part, "text"))
            case "tool", _ if key := id_in(part, "callID"):
                state = fields_in(part, "state")
                yield from reading.called(key, text_in(part, "tool"), state.get("input"))
                yield from reading.returned(key, {"output": text_in(state, "output")}, failed="output" not in state)
            case "compaction", _:
                yield from reading.happened(Compacted())
        if text_in(each, "error") == _ABORTED:
            reading.stopping(STOP_CANCELLED)
    if title and head.child is None and not _UNTITLED.match(title):
        yield from reading.happened(Titled(title))
    yield from reading.end()
