"""What is on an ACP line, as values: updates of plans, other JSON-RPC messages, and reports of what was wrong."""

from typing import TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType

from planwire.model.plan import Fields, Plan, PlanId

__all__ = ["Body", "Envelope", "Extension", "Message", "Reading", "Removal", "Report", "Update"]


class Report(Struct, frozen=True):
    """Something that was wrong with a line, and what was made of it.

    `where` is a path into the line's JSON; `rule` the number of the protocol rule it breaks, if one says so. A report
    never costs the good parts of a line.
    """

    code: str
    where: str
    message: str
    rule: str | None = None


class Extension(Struct, frozen=True):
    """Text that goes to the end of a markdown plan, as JetBrains AIR streams it."""

    id: PlanId
    text: str


class Removal(Struct, frozen=True):
    """A plan is dismissed (R13)."""

    id: str


class Envelope(Struct, frozen=True):
    """What stood around a plan on its line, kept to be written back: fields of the update (unless they are the plan's
    own), of `params` and of the message. `bare` is an update on its own, without a message around it."""

    update: Fields | None = None
    params: Fields | None = None
    message: Fields | None = None
    bare: bool = False


#: What an update says. None is an update that can't be used: the plan stays as it was.
Body: TypeAlias = Plan | Extension | Removal | None


class Update(Struct, frozen=True):
    """One `session/update` about plans. `tag` is its `sessionUpdate`; `id_keys` how the plan's id was spelled."""

    session: str | None
    tag: str
    body: Body
    id_keys: tuple[str, ...] = ()
    envelope: Envelope = Envelope()


class Message(Struct, frozen=True):
    """A JSON-RPC message that is not about plans, looked at no further than to tell what it is."""

    method: str | None = None
    id: int | float | str | UnsetType | None = UNSET
    params: Raw = Raw(b"null")
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class Reading(Struct, frozen=True):
    """All that one line says. A line that is not about plans has no updates; several come only in a batch (R36)."""

    updates: tuple[Update, ...] = ()
    messages: tuple[Message, ...] = ()
    reports: tuple[Report, ...] = ()
