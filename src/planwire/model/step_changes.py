"""Changes to single steps, which make up deltas and suggestions: frozen values, one class per change."""

from typing import TypeAlias

from msgspec import Struct

from planwire.model.plan import MEDIUM
from planwire.model.statuses import DEFAULT_STATUS


class SetStatus(Struct, frozen=True, tag_field="do", tag="status"):
    """A step's status changes."""

    step: str
    status: str


class RewordStep(Struct, frozen=True, tag_field="do", tag="reword"):
    """A step's text changes."""

    step: str
    content: str


class SetPriority(Struct, frozen=True, tag_field="do", tag="priority"):
    """A step's priority changes."""

    step: str
    priority: str


class AddStep(Struct, frozen=True, tag_field="do", tag="add", omit_defaults=True):
    """A new step after the step `after`; at the end if that is None, at the beginning if it is "". Its writer decides
    its `id`."""

    content: str
    after: str | None = None
    priority: str = MEDIUM
    status: str = DEFAULT_STATUS
    id: str = ""


class MoveStep(Struct, frozen=True, tag_field="do", tag="move"):
    """A step moves to the place after another one; "" is the beginning."""

    step: str
    after: str


class RemoveStep(Struct, frozen=True, tag_field="do", tag="remove"):
    """A step is removed."""

    step: str


StepChange: TypeAlias = SetStatus | RewordStep | SetPriority | AddStep | MoveStep | RemoveStep
