"""The fast routes of the reader, for lines with a proper list of entries.

1. `read_strictly`: a line that is exactly what a schema says decodes in one go.
2. `read_around_entries`: a line with fields of its own around the list. The list decodes in one go; the reader then
   looks at the rest as plain values.

The lenient reader gives the same answer for each of these lines, only more slowly, and agents resend the whole list
with every change. Speed is all that the fast routes add; a wrong answer from one of them would put a wrong plan on
screens and into journals without any report. So each route has to prove that it read what is there. The strict route
refuses unknown fields, which makes the decoder the proof. The other route finds the list by searching text, and text
misleads: `"entries":[` may stand inside a `_meta`, a `]` inside an entry. It therefore checks afterwards that the piece
it cut out decodes as entries and that the hole is exactly where the plan's list belongs.

A route that has no proof returns None or lets the decoder's error through, and the line goes on to the lenient reader.
"""

from typing import Literal

import msgspec
from msgspec import Struct

from planwire.acp.dialects import id_keys
from planwire.acp.messages import Envelope, Update
from planwire.acp.salvage import MAX_ENTRIES, MAX_NESTING
from planwire.model.plan import Entry, ItemsPlan


class _StrictPlan(Struct, tag_field="sessionUpdate", tag="plan", forbid_unknown_fields=True):
    entries: tuple[Entry, ...]


class _StrictItems(Struct, forbid_unknown_fields=True, rename="camel"):
    type: Literal["items"]  # not a tag: a tag may be missing where there is no choice
    entries: tuple[Entry, ...]
    plan_id: str | None = None
    id: str | None = None


class _StrictPlanUpdate(Struct, tag_field="sessionUpdate", tag="plan_update", forbid_unknown_fields=True):
    plan: _StrictItems


class _StrictParams(Struct, forbid_unknown_fields=True, rename="camel"):
    session_id: str
    update: _StrictPlan | _StrictPlanUpdate


class _StrictLine(Struct, forbid_unknown_fields=True):
    params: _StrictParams
    method: Literal["session/update"]
    jsonrpc: Literal["2.0"]


_decode_line = msgspec.json.Decoder(_StrictLine).decode
_decode_entries = msgspec.json.Decoder(tuple[Entry, ...]).decode
_decode_value = msgspec.json.Decoder().decode


def read_strictly(line: bytes) -> Update | None:
    """The update on a line that is exactly as the schema says; None if the entries need a second look."""
    params = _decode_line(line).params
    update = params.update
    if isinstance(update, _StrictPlan):
        if _are_safe(update.entries, line):
            return Update(params.session_id, "plan", ItemsPlan(None, update.entries))
        return None
    plan = update.plan
    if (plan.plan_id is None) == (plan.id is None) or not _are_safe(plan.entries, line):
        return None
    if plan.plan_id is not None:
        return Update(params.session_id, "plan_update", ItemsPlan(plan.plan_id, plan.entries), ("planId",))
    return Update(params.session_id, "plan_update", ItemsPlan(plan.id, plan.entries), ("id",))


#: The stand-in for a list that was cut out. It begins with a character that a line on this route must not contain.
_STAND_IN = "\x7fentries"
_QUOTED_STAND_IN = b'"\x7fentries"'


def read_around_entries(line: bytes) -> Update | None:
    """The update on a line with a proper list and fields of its own around it.

    A stand-in that occurs nowhere in the line replaces the list. Finding it under the plan's `entries` in the decoded
    rest proves that the piece cut out was the plan's list.
    """
    cut = _cut_entries(line)
    if cut is None:
        return None
    start, end, entries = cut
    rest = line[:start] + _QUOTED_STAND_IN + line[end:]
    if b"\x7f" in line or (b"\\" in rest and b"\\u00" in rest) or not _is_shallow(rest):
        return None
    try:
        message = _decode_value(rest)
        params = message.pop("params")
        update = fields = params.pop("update")
        session, tag = params.pop("sessionId"), update.pop("sessionUpdate")
        plan_id: str | None = None
        spelled: tuple[str, ...] = ()
        if tag != "plan":
            fields = update.pop("plan")
            spelled = tuple(key for key in id_keys() if key in fields)
            plan_id = fields.pop(spelled[0])
            if tag != "plan_update" or fields.pop("type") != "items" or len(spelled) > 1:
                return None
            if not isinstance(plan_id, str):
                return None
        meta = fields.pop("_meta", None)
        if message.pop("method") != "session/update" or message.pop("jsonrpc") != "2.0":
            return None
        if fields.pop("entries") != _STAND_IN or not isinstance(session, str) or not isinstance(meta, _DICT_OR_NONE):
            return None
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    if not _are_safe(entries, line):
        return None
    plan = ItemsPlan(plan_id, entries, meta, fields or None)
    envelope = Envelope(None if fields is update else update or None, params or None, message or None)
    return Update(session, tag, plan, spelled, envelope)


_DICT_OR_NONE = (dict, type(None))
_KEYS = (b'"entries":[', b'"entries": [')


def _cut_entries(line: bytes) -> tuple[int, int, tuple[Entry, ...]] | None:
    """Start, end and entries of the first list that looks like the plan's.

    The list ends at one of the last three brackets of the line: after it may come lists in `_meta`, or brackets in a
    text. A line with more of these goes to the lenient reader.
    """
    start = line.find(_KEYS[0]) + len(_KEYS[0]) - 1
    if start < len(_KEYS[0]):
        start = line.find(_KEYS[1]) + len(_KEYS[1]) - 1
        if start < len(_KEYS[1]):
            return None
    end = len(line)
    for _ in range(3):
        end = line.rfind(b"]", start, end)
        if end < 0:
            return None
        try:
            return start, end + 1, _decode_entries(line[start : end + 1])
        except msgspec.ValidationError:
            return None
        except msgspec.DecodeError:  # that was not its end
            continue
    return None


def _are_safe(entries: tuple[Entry, ...], line: bytes) -> bool:
    """Whether no entry needs the lenient reader.

    The lenient reader reports a null priority, cuts an endless list short and drops `_meta` that nests dangerously
    deep. An entry that has `extra` here used planwire's internal key on the wire, which only planwire may set.
    """
    if len(entries) > MAX_ENTRIES:
        return False
    odd = [e for e in entries if e.meta is not None or e.extra is not None or e.priority is None]
    if not odd:
        return True
    return _is_shallow(line) and not [e for e in odd if e.extra is not None or e.priority is None]


def _is_shallow(text: bytes) -> bool:
    """Whether a JSON text is too short, or opens too few brackets, to nest deeper than `MAX_NESTING`."""
    if len(text) <= 2 * MAX_NESTING:
        return True
    lists = len(text.split(b"[", MAX_NESTING)) - 1  # `[` is rare here, and a bounded split is faster than a count
    return text.count(b"{") + lists <= MAX_NESTING
