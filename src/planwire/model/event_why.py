"""The why in an event: the digest of what an agent thought before it, which only plans and their changes have."""

from msgspec.structs import replace

from planwire.model.events import Event, PlanChanged, PlanSet

__all__ = ["why_in", "with_why"]


def why_in(event: Event) -> str:
    """The digest in an event, "" for one without."""
    return event.why if isinstance(event, PlanSet | PlanChanged) else ""


def with_why(event: Event, why: str) -> Event:
    """The event with another digest, if it can have one."""
    return replace(event, why=why) if isinstance(event, PlanSet | PlanChanged) else event
