"""Exit codes: one for each thing that a script may want to do next."""

from typing import Final

from planwire.errors import (
    ChatError,
    ChoiceNeeded,
    DialectError,
    EmptyText,
    InputError,
    NoJournal,
    NotAJournal,
    NotFound,
    PlanwireError,
    UnknownJournal,
    UnknownPlan,
    UnknownRemark,
    UnknownStep,
    UnknownWord,
)

#: Done, or nothing to do.
DONE: Final = 0
#: Refused or failed: the plan has changed, a person said no, the journal is locked.
NOT_DONE: Final = 1
#: Arguments or an input file that planwire can't use. argparse ends with the same number.
USAGE: Final = 2
#: No such session, plan, step, remark, event or journal.
NOT_FOUND: Final = 3
#: `planwire journal verify` found something that was changed since it was written.
DAMAGED: Final = 4

#: The first row that an error belongs to counts.
_CODES: Final[tuple[tuple[type[PlanwireError], int], ...]] = (
    (NotFound, NOT_FOUND),
    (NoJournal, NOT_FOUND),
    (UnknownPlan, NOT_FOUND),
    (UnknownStep, NOT_FOUND),
    (UnknownRemark, NOT_FOUND),
    (EmptyText, USAGE),
    (UnknownWord, USAGE),
    (ChoiceNeeded, USAGE),
    (InputError, USAGE),
    (UnknownJournal, USAGE),
    (NotAJournal, USAGE),
    (ChatError, USAGE),
    (DialectError, USAGE),
)


def exit_code(error: PlanwireError) -> int:
    """The exit code of a command that failed with this error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), NOT_DONE)
