"""The why of an event: the digest of what an agent thought before it. Only plans and their changes have one."""

from msgspec.structs import replace

from planwire.model.events import Event, PlanChanged, PlanSet


def why_in(event: Event) -> str:
    """The digest in an event; "" if it has none."""
    return event.why if isinstance(event, PlanSet | PlanChanged) else ""


def with_why(event: Event, why: str) -> Event:
    """The event with another digest; unchanged if its type has none."""
    return replace(event, why=why) if isinstance(event, PlanSet | PlanChanged) else event
