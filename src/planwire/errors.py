"""Every error that planwire raises, in one tree.

    PlanwireError
    ├── PlanError              a plan can't do what was asked of it
    │   ├── StaleRevision      the plan moved on: the write was meant for another revision
    │   ├── UnknownStep        no step has that id
    │   ├── UneditableText     a markdown text can't be edited that way
    │   └── UnmarkableStatus   a markdown checkbox can't show that status
    ├── DialectError           a dialect can't do what was asked of it
    │   ├── UnknownDialect     no dialect has that name
    │   └── CannotCarry        the dialect has no form for this plan: lower it first
    ├── ToolError              a model called a tool in a way that can't be answered
    ├── MissingExtra           an optional package is not installed
    └── InputError             a file or an argument of the command line can't be used

Nothing here is ever raised for what arrives on the wire: there, `Report` values say what was wrong. Each message
says what was wrong, where, and what to do about it.
"""

__all__ = [
    "CannotCarry",
    "DialectError",
    "InputError",
    "MissingExtra",
    "PlanError",
    "PlanwireError",
    "StaleRevision",
    "ToolError",
    "UneditableText",
    "UnknownDialect",
    "UnknownStep",
    "UnmarkableStatus",
]


class PlanwireError(Exception):
    """The root: catch it to catch all of them. Only its leaves are raised."""


class PlanError(PlanwireError):
    """A plan can't do what was asked of it."""


class StaleRevision(PlanError):
    """The plan moved on: the write was meant for another revision. `current` is the one that it is at."""

    def __init__(self, message: str, current: int) -> None:
        super().__init__(message)
        self.current = current


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


class MissingExtra(PlanwireError):
    """An optional package is not installed."""


class InputError(PlanwireError):
    """A file or an argument of the command line can't be used."""
