"""A plan carried over from another chat, with its history there, as its message tells it.

When a stored chat moves to another session, everything that a model or a person has seen of a plan stays as it was:
its version, the ids of its steps, the numbers of its changes, its notes, authors and times.
"""

from typing import Any

import msgspec
from msgspec import Struct

from planwire.model.kinds import drafts_of
from planwire.model.names import id_number
from planwire.model.plan import Fields, Plan
from planwire.model.records import PlanNote
from planwire.model.steps import Step


class Carried(Struct, frozen=True):
    """The history of a plan before it came here. Fields missing from its message are None, 0 or empty."""

    message_id: str
    version: int
    revision: int = 0
    at: int = 0
    by: str = ""
    supersedes: str | None = None
    numbered: int = 0
    notes: tuple[PlanNote, ...] = ()
    noted: int = 0
    authors: dict[str, str] = {}
    steps: tuple[Step, ...] = ()
    born: int = 0

    def ids(self, plan: Plan) -> tuple[str, ...]:
        """The ids that the plan's steps had; none unless the message names one for each."""
        found = tuple(step.id for step in self.steps)
        fits = len(set(found)) == len(drafts_of(plan)) == len(found) and all(id_number("s", each) for each in found)
        return found if fits else ()


def carried_plan(origin: Fields | None) -> Carried | None:
    """The history in a stored plan message; None if the program that wrote it counts no versions."""
    fields = metadata_of(origin, "plan")
    version = _number(fields.get("version"))
    if origin is None or not version:
        return None
    supersedes = fields.get("supersedes")
    notes = tuple(_notes(fields.get("notes")))
    return Carried(
        _text(origin.get("message_id")),
        version,
        _number(fields.get("revision")),
        _number(fields.get("created_at_ms")),
        _text(fields.get("by")),
        supersedes if isinstance(supersedes, str) else None,
        max(_number(fields.get("merged")), _number(fields.get("deltas"))),
        notes,
        max(_number(fields.get("noted")), len(notes)),
        _converted(fields.get("authors"), dict[str, str], {}),
        _converted(fields.get("steps"), tuple[Step, ...], ()),
        _number(fields.get("last_step")),
    )


def carried_change(origin: Fields | None) -> tuple[int, str, int]:
    """The number of a change within its plan, its author and its time, read from its stored message."""
    payload = metadata_of(origin, "event").get("payload")
    if not isinstance(payload, dict):
        return 0, "", 0
    return _number(payload.get("seq")), _text(payload.get("by")), _number(payload.get("created_at_ms"))


def metadata_of(message: Fields | None, kind: str) -> Fields:
    """The metadata of a stored message of a kind (`plan`, `event`): in its `extra`, or at its top level."""
    message = message or {}
    extra = message.get("extra")
    found = (extra if isinstance(extra, dict) and kind in extra else message).get(kind)
    return found if isinstance(found, dict) else {}


def _notes(values: Any) -> list[PlanNote]:
    found: list[PlanNote] = []
    for number, value in enumerate(values if isinstance(values, list) else (), start=1):
        match value:
            case {"text": str(text)}:
                found.append(
                    PlanNote(
                        _number(value.get("number")) or number, _number(value.get("at")), _text(value.get("by")), text
                    )
                )
            case str():
                found.append(PlanNote(number, 0, "", value))
    return found


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53 else 0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _converted(value: Any, kind: Any, default: Any) -> Any:
    try:
        return msgspec.convert(value, kind) if value else default
    except msgspec.ValidationError:
        return default
