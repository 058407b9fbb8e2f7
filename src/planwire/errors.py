"""Every error that planwire raises, in one tree.

    PlanwireError
    ├── PlanError              a plan can't do what was asked of it
    │   ├── StaleRevision      the plan moved on: the write was meant for another revision
    │   ├── NothingChanges     everything asked for is already so: nothing was written
    │   ├── UnknownStep        no step has that id
    │   ├── UneditableText     a markdown text can't be edited that way
    │   └── UnmarkableStatus   a markdown checkbox can't show that status
    ├── DialectError           a dialect can't do what was asked of it
    │   ├── UnknownDialect     no dialect has that name
    │   └── CannotCarry        the dialect has no form for this plan: lower it first
    ├── ToolError              a model called a tool in a way that can't be answered
    ├── JournalError           a journal can't do what was asked of it
    │   ├── Conflict           the session has moved on since the writer last looked
    │   ├── UnstorableEvent    an event is not made of JSON, or is too large
    │   ├── UnknownJournal     no journal has such a URL
    │   ├── NoJournal          nothing was ever written there, and it was only to be read
    │   ├── NotAJournal        the file is something else, and is left as it is
    │   ├── NewerJournal       the file was written by a newer planwire, and is left as it is
    │   ├── DamagedJournal     the file is broken, and is left as it is
    │   └── JournalUnavailable locked for too long, full, not writable, gone or closed
    ├── ChatError              a chat can't be kept or shown as it is
    │   ├── BadMessage         a message is not of a shape that can be stored
    │   ├── BadStream          a stream file is not a list of messages
    │   └── FormatError        no provider format has that name, or the stream has another one
    ├── MissingExtra           an optional package is not installed
    └── InputError             a file or an argument of the command line can't be used

Nothing here is ever raised for what arrives on the wire: there, `Report` values say what was wrong. Each message
says what was wrong, where, and what to do about it.
"""

__all__ = [
    "BadMessage",
    "BadStream",
    "CannotCarry",
    "ChatError",
    "Conflict",
    "DamagedJournal",
    "DialectError",
    "FormatError",
    "InputError",
    "JournalError",
    "JournalUnavailable",
    "MissingExtra",
    "NewerJournal",
    "NoJournal",
    "NotAJournal",
    "NothingChanges",
    "PlanError",
    "PlanwireError",
    "StaleRevision",
    "ToolError",
    "UneditableText",
    "UnknownDialect",
    "UnknownJournal",
    "UnknownStep",
    "UnmarkableStatus",
    "UnstorableEvent",
]


class PlanwireError(Exception):
    """The root: catch it to catch all of them. Only its leaves are raised."""


class PlanError(PlanwireError):
    """A plan can't do what was asked of it."""


class StaleRevision(PlanError):
    """The plan moved on: the write was meant for the revision `expected`. `current` is the one that it is at."""

    def __init__(self, message: str, current: int, expected: int) -> None:
        super().__init__(message)
        self.current = current
        self.expected = expected


class NothingChanges(PlanError):
    """Everything asked for is already so, or said already. Nothing was written, and no revision was made."""


class UnknownStep(PlanError):
    """No step has that id."""


class UneditableText(PlanError):
    """A markdown text can't be edited that way."""


class UnmarkableStatus(PlanError):
    """A markdown checkbox can't show that status."""


class DialectError(PlanwireError):
    """A dialect can't do what was asked of it."""


class UnknownDialect(DialectError):
    """No dialect has that name."""


class CannotCarry(DialectError):
    """The dialect has no form for this plan: lower it first."""


class ToolError(PlanwireError):
    """A model called a tool in a way that can't be answered. `hint` says what to do next, `details` what is known."""

    def __init__(self, code: str, message: str, hint: str, details: "dict[str, object] | None" = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.details = details or {}


class JournalError(PlanwireError):
    """A journal can't do what was asked of it."""


class Conflict(JournalError):
    """The session has moved on since the writer last looked: `current` is its last number, not `expected`."""

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
    """An event is not made of JSON, or is too large."""


class UnknownJournal(JournalError):
    """No journal has such a URL."""


class NoJournal(JournalError):
    """Nothing was ever written there, and it was only to be read."""


class NotAJournal(JournalError):
    """The file is something else, and is left as it is."""


class NewerJournal(JournalError):
    """The file was written by a newer planwire, and is left as it is."""


class DamagedJournal(JournalError):
    """The file is broken, and is left as it is."""


class JournalUnavailable(JournalError):
    """The journal is locked for too long, full, not writable, gone or closed."""


class ChatError(PlanwireError):
    """A chat can't be kept or shown as it is."""


class BadMessage(ChatError):
    """A message is not of a shape that can be stored."""


class BadStream(ChatError):
    """A stream file is not a list of messages."""


class FormatError(ChatError):
    """No provider format has that name, or the stream has another one."""


class MissingExtra(PlanwireError):
    """An optional package is not installed."""


class InputError(PlanwireError):
    """A file or an argument of the command line can't be used."""
