"""What an event adds to a state: an event that says nothing new is not written.

Agents repeat themselves: they send the same list after every tool call, and their names with every session. The relay
and the hooks both compare what they receive with the known state, by this rule.
"""

from msgspec.structs import asdict, replace

from planwire.model.events import Event, PlanRemoved, PlanReviewed, PlanSet, ReviewAsked, SessionOpened
from planwire.model.records import SessionState
from planwire.model.sameness import is_same


def addition(state: SessionState, event: Event) -> Event | None:
    """The event to write to the journal, or None if it says nothing new."""
    plans = state.live()
    match event:
        case PlanSet(plan=plan):
            before = plans.get(plan.id)
            return event if before is None or not is_same(before.state.plan, plan) else None
        case PlanRemoved(plan_id=plan_id):
            return event if plan_id in plans else None
        case ReviewAsked(plan_id=plan_id, question=question):
            asked = plans[plan_id].asked if plan_id in plans else None
            return event if plan_id in plans and not (asked and asked.id == question) else None
        case PlanReviewed(plan_id=plan_id):
            return replace(event, revision=plans[plan_id].revision) if plan_id in plans else None
        case SessionOpened():
            known = state.opened or SessionOpened()
            new = {key: word for key, word in asdict(event).items() if word not in (None, getattr(known, key))}
            if "cwd" in new and event.repository is not None:  # another folder is in no repository unless it says so
                new["repository"] = event.repository
            return SessionOpened(**new) if new else None
    return event
