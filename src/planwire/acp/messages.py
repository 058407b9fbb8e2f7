"""The contents of an ACP line as values: updates of plans, other JSON-RPC messages, and reports of defects."""

from typing import Final, TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType

from planwire.model.plan import Fields, Plan, PlanId


class Report(Struct, frozen=True):
    """One defect of a line, and how the reader dealt with it.

    `where` is a path into the line's JSON, `rule` the number of the protocol rule that the line breaks, if there is
    one. `outcome` says how the reader dealt with the defect, where that is not obvious; `word` is the unknown word, if
    that is the defect. A report never costs the good parts of a line.
    """

    code: str
    where: str
    defect: str
    rule: str | None = None
    outcome: str = ""
    word: str = ""

    @property
    def message(self) -> str:
        """The defect and the outcome, for people."""
        return f"{self.defect}; {self.outcome}" if self.outcome else self.defect


class Extension(Struct, frozen=True):
    """Text to append to a markdown plan, as JetBrains AIR streams plans."""

    id: PlanId
    text: str


class Removal(Struct, frozen=True):
    """The dismissal of a plan (R13)."""

    id: str


class Envelope(Struct, frozen=True):
    """The fields around a plan on its line, which the writer puts back: those of the update (unless they are the
    plan's own), of `params` and of the message. `bare` marks an update on its own, without a message around it. `at` is
    the path of the message on its line: empty, unless the line is a batch."""

    update: Fields | None = None
    params: Fields | None = None
    message: Fields | None = None
    bare: bool = False
    at: str = ""


#: The envelope of a line without extra fields around the plan, as nearly all lines are.
PLAIN: Final = Envelope()

#: The content of an update. None stands for an unusable update, which leaves the plan as it was.
Body: TypeAlias = Plan | Extension | Removal | None


class Update(Struct, frozen=True):
    """One `session/update` about plans. `tag` is its `sessionUpdate`, `id_keys` the keys that held the plan's id."""

    session: str | None
    tag: str
    body: Body
    id_keys: tuple[str, ...] = ()
    envelope: Envelope = PLAIN

    def path(self, field: str = "") -> str:
        """The path of a field of the update on its line, or of the update itself."""
        parts = (self.envelope.at, "" if self.envelope.bare else "params.update", field)
        return ".".join(part for part in parts if part)

    def plan_path(self, field: str = "") -> str:
        """The path of a field of the plan in the update, or of the plan itself."""
        return self.path(field if self.tag != "plan_update" else f"plan.{field}".removesuffix("."))


class Message(Struct, frozen=True):
    """A JSON-RPC message that is not about plans. Its parts stay undecoded: most listeners want only the method."""

    method: str | None = None
    id: int | float | str | UnsetType | None = UNSET
    params: Raw = Raw(b"null")
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class Reading(Struct, frozen=True):
    """Everything one line says. Only a batch has more than one update or message (R36)."""

    updates: tuple[Update, ...] = ()
    messages: tuple[Message, ...] = ()
    reports: tuple[Report, ...] = ()
