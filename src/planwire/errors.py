"""Every error that planwire raises, in one tree: catch the root, a family such as `JournalError`, or a leaf.

    PlanwireError
    ├── PlanError              a plan can't do that
    │   ├── StaleRevision      the plan moved on from the writer's revision
    │   ├── MovedOn            the plan moved on from what a person saw; defined in `session`, with what is new
    │   ├── ChoiceNeeded       a person has to choose one of the answers that the agent offers
    │   ├── InterruptNeeded    the agent's turn would have to be cancelled, and the person has not agreed to that
    │   ├── NothingChanges     there is nothing to write
    │   ├── NotAllowed         the person's role does not allow that
    │   ├── UnknownPlan        the session has no such plan, or it was dismissed
    │   ├── UnknownStep        no step has that id
    │   ├── UnknownRemark      no remark has that id
    │   ├── UnknownWord        no status, priority or verdict has that name
    │   ├── UnknownAct         no act of people has that name
    │   ├── EmptyText          a comment or a step without text
    │   ├── TooLong            a remark longer than an agent is told
    │   ├── UneditableText     a markdown text has no place for that edit
    │   └── UnmarkableStatus   a markdown checkbox can't show that status
    ├── DialectError           a dialect can't do that
    │   ├── UnknownDialect     no dialect has that name
    │   └── CannotCarry        the dialect has no form for this plan: lower it first
    ├── ToolError              a model's tool call can't be run
    ├── JournalError           a journal can't do that
    │   ├── Conflict           the session moved on since the writer last looked
    │   ├── UnstorableEvent    an event is not JSON, or too large
    │   ├── UnknownJournal     the URL is of no known kind
    │   ├── NoJournal          there is no journal yet, and a reader creates none
    │   ├── NotAJournal        the file is not a journal; it stays as it is
    │   ├── NewerJournal       a newer planwire wrote the file; it stays as it is
    │   ├── DamagedJournal     the file is damaged; it stays as it is
    │   └── JournalUnavailable locked for too long, full, not writable, gone or closed
    │       └── EngineAway     the server that keeps the journal can't be reached, or did not answer
    │           ├── LoginRefused the server refuses this login, which has to be corrected
    │           ├── NotWritable the server takes no events now: nothing was written
    │           └── CannotWait the server is away, and this can't be written later: nothing was written
    ├── ChatError              a chat can't keep or show that
    │   ├── BadMessage         a message can't be stored
    │   ├── BadStream          a stream file has a message that can't be read
    │   │   └── NoStream       a file is not a list of messages
    │   └── FormatError        no provider format has that name, or the stream has another one
    ├── MissingExtra           an optional package is missing
    ├── Refused                a person said no, could not be asked, or has to look again
    └── InputError             the command line can't use a file or an argument
        └── NotFound           there is no such session, plan, step or event

A line on the wire never raises one of them: `Report` values say what is wrong with it. Each message says what was
wrong, where, and what to do about it.
"""


class PlanwireError(Exception):
    """The root of the tree. planwire raises its leaves, and `PlanError` where none of them fits."""


class PlanError(PlanwireError):
    """A plan can't do that."""


class StaleRevision(PlanError):
    """The plan moved on to the revision `current`; the writer saw `expected`."""

    def __init__(self, message: str, current: int, expected: int) -> None:
        super().__init__(message)
        self.current = current
        self.expected = expected


class ChoiceNeeded(PlanError):
    """A person has to choose an answer to the agent's question: no single one is meant. `options` are the ids."""

    def __init__(self, problem: str, options: tuple[str, ...]) -> None:
        super().__init__(problem)
        self.options = options


class InterruptNeeded(PlanError):
    """To tell the agent something now, its turn would have to be cancelled: ask the person first."""


class NotAllowed(PlanError):
    """The person's role on a team's board does not allow that. Nothing was written."""


class NothingChanges(PlanError):
    """The plan already says what was asked for, or the person said it before. Nothing was written."""


class UnknownPlan(PlanError):
    """The session has no such plan, or it was dismissed."""


class UnknownStep(PlanError):
    """No step has that id."""


class TooLong(PlanError):
    """A remark is longer than an agent is told."""


class UnknownRemark(PlanError):
    """No remark of the plan has that id."""


class UnknownWord(PlanError):
    """No status, priority or verdict has that name."""


class UnknownAct(PlanError):
    """No act of people has that name."""


class EmptyText(PlanError):
    """A comment or a step has no text."""


class UneditableText(PlanError):
    """A markdown text has no place for that edit."""


class UnmarkableStatus(PlanError):
    """A markdown checkbox can't show that status."""


class DialectError(PlanwireError):
    """A dialect can't do that."""


class UnknownDialect(DialectError):
    """No dialect has that name."""


class CannotCarry(DialectError):
    """The dialect has no form for this plan: lower it first."""


class ToolError(PlanwireError):
    """A model's tool call can't be run. `hint` says what to do next, `details` holds facts that help."""

    def __init__(self, code: str, message: str, hint: str, details: "dict[str, object] | None" = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.details = details or {}


class JournalError(PlanwireError):
    """A journal can't do that."""


class Conflict(JournalError):
    """The session moved on since the writer last looked: its last event is `current`, not `expected`."""

    def __init__(self, session: str, expected: int, current: int) -> None:
        super().__init__(session, expected, current)
        self.session = session
        self.expected = expected
        self.current = current

    def __str__(self) -> str:
        return (
            f"session {self.session!r} is at event {self.current}, not {self.expected}: nothing was written; "
            "read what is new and try again"
        )


class UnstorableEvent(JournalError):
    """An event is not JSON, or too large."""


class UnknownJournal(JournalError):
    """The URL is of no known kind."""


class NoJournal(JournalError):
    """There is no journal yet, and a reader creates none."""


class NotAJournal(JournalError):
    """The file is not a journal. It stays as it is."""


class NewerJournal(JournalError):
    """A newer planwire wrote the file. It stays as it is."""


class DamagedJournal(JournalError):
    """The file is damaged. It stays as it is."""


class JournalUnavailable(JournalError):
    """The journal is locked for too long, full, not writable, gone or closed."""


class EngineAway(JournalUnavailable):
    """The server that keeps the journal can't be reached, or did not answer in time. It may or may not have the last
    append."""


class LoginRefused(EngineAway):
    """The server that keeps the journal refuses this login. What is recorded meanwhile waits until the login is
    corrected."""


class NotWritable(EngineAway):
    """The server that keeps the journal answers but takes no events now: it is a standby, has no room, or would not
    keep them. Nothing was written."""


class CannotWait(EngineAway):
    """The server that keeps the journal is away, and this can't be written later. Nothing was written."""


class ChatError(PlanwireError):
    """A chat can't keep or show that."""


class BadMessage(ChatError):
    """A message can't be stored."""


class BadStream(ChatError):
    """A stream file has a message that can't be read."""


class NoStream(BadStream):
    """A file is not a list of messages."""


class FormatError(ChatError):
    """No provider format has that name, or the stream has another one."""


class MissingExtra(PlanwireError):
    """An optional package is missing."""


class Refused(PlanwireError):
    """A command did nothing: a person said no, could not be asked, or has to look again."""


class InputError(PlanwireError):
    """The command line can't use a file or an argument."""


class NotFound(InputError):
    """There is no such session, plan, step or event."""


def reason(error: Exception) -> str:
    """Why something failed, in the system's words where it has any."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
