"""Sessions and plans as markdown: one document for people, models, copies and exports.

Each status has a box of its own (`[ ]`, `[~]`, `[x]`, `[-]`); a status without one stands behind its step in words. A
plan that is a text is that text. The texts are the authors' own: whoever prints them makes them safe for a terminal.
"""

from collections.abc import Iterable, Iterator

from planwire.model.plan import MEDIUM
from planwire.model.statuses import DEFAULT_STATUS, STATUSES, status_of
from planwire.model.text import unwrapped
from planwire.readmodel.card import PlanCard, ReviewCard, StepRow
from planwire.readmodel.shown import ShownSession

__all__ = ["plan_markdown", "session_markdown"]


def session_markdown(session: ShownSession) -> str:
    """The live plans of a session, each under a heading of its own."""
    glance = session.glance
    facts = [f"session {session.id}", *filter(None, (glance.agent, glance.cwd)), f"revision {glance.last_seq}"]
    parts = [f"# {unwrapped(session.glance.title or 'Plans')}", f"_{' · '.join(map(unwrapped, facts))}_"]
    for card in session.cards():
        done = f" ({card.progress.done}/{card.progress.total})" if card.rows else ""
        parts += [f"## {card.title}{done}", *_parts(card, "###")]
    if not session.cards():
        parts.append("No plans.")
    return "\n\n".join(parts) + "\n"


def plan_markdown(card: PlanCard, *, remarks: bool = True) -> str:
    """A plan to read: its text or its steps, and the notes, suggestions and reviews on it, unless left out."""
    title = [] if card.text else [f"# {card.title}"]
    return "\n\n".join([*title, *_parts(card, "##", remarks=remarks)]) + "\n"


def _parts(card: PlanCard, heading: str, *, remarks: bool = True) -> Iterator[str]:
    if card.why and remarks:
        yield "\n".join(f"> {line}".rstrip() for line in card.why.splitlines())
    yield _body(card)
    if remarks:
        yield from _section(f"{heading} Notes", (f"{each.by}: {each.text}" for each in card.notes))
        yield from _section(f"{heading} Suggestions", (f"{each.by}: {each.text}" for each in card.suggestions))
        yield from _section(f"{heading} Reviews", (line for each in card.reviews for line in _review(card, each)))


def _body(card: PlanCard) -> str:
    if card.text:
        return card.text.strip("\n")
    if card.rows:
        return "\n".join("  " * row.depth + _task(row) for row in card.rows)
    if card.uri is not None:
        return f"<{card.uri}>"
    return f"```json\n{card.fields}\n```" if card.fields else "Nothing on the list."


def _task(row: StepRow) -> str:
    known = status_of(row.status)
    details = [row.priority] if row.priority != MEDIUM else []
    details += [] if known else [row.status]
    box = (known or STATUSES[DEFAULT_STATUS]).box
    return f"- [{box}] {unwrapped(row.text)}" + (f" ({', '.join(details)})" if details else "")


def _review(card: PlanCard, review: ReviewCard) -> Iterator[str]:
    since = ", and the plan has changed since" if review.stale and not review.is_comment else ""
    yield f"{review.by}: {review.words}{since}"
    if review.to_run is not None:
        yield f"to run: {', '.join(review.to_run) or 'no step'}"
    said = next((each.comments for each in card.record.reviews if each.seq == review.seq), ()) if card.record else ()
    for comment in said:
        yield f"{comment.step or 'plan'}: {comment.text}"


def _section(heading: str, lines: Iterable[str]) -> Iterator[str]:
    items = "\n".join(f"- {unwrapped(line)}" for line in lines)
    if items:
        yield f"{heading}\n\n{items}"
