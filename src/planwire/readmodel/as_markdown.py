"""Sessions and plans as markdown: one document for people, models, copies and exports.

Each status has a box of its own (`[ ]`, `[~]`, `[x]`, `[-]`); a status without one follows its step in words. A plan
that is a text is that text. The texts are the authors' own: code that prints them must make them safe for a terminal.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from planwire.model.events import SELECTION
from planwire.model.plan import MEDIUM
from planwire.model.statuses import DEFAULT_STATUS, STATUSES, status_of
from planwire.model.text import unwrapped
from planwire.readmodel.card import PlanCard, RemarkCard, ReviewCard, StepRow
from planwire.readmodel.plan_tree import below_words
from planwire.readmodel.shown import ShownSession

__all__ = ["plan_markdown", "session_markdown"]

#: The text for a step without one, since a checkbox needs some text.
_NO_TEXT: Final = "(no text)"


def session_markdown(session: ShownSession) -> str:
    """The live plans of a session, each under a heading of its own."""
    glance = session.glance
    facts = [f"session {session.id}", *filter(None, (glance.agent, glance.cwd)), f"revision {glance.last_seq}"]
    parts = [f"# {unwrapped(session.glance.title or 'Plans')}", f"_{' · '.join(map(unwrapped, facts))}_"]
    for card in session.cards():
        done = f" ({card.progress.done}/{card.progress.total})" if card.progress.total else ""
        parts += [f"## {card.title}{done}", *([f"_for {card.works_for}_"] if card.above else []), *_parts(card, "###")]
    if not session.cards():
        parts.append("No plans.")
    return "\n\n".join(parts) + "\n"


def plan_markdown(card: PlanCard, *, remarks: bool = True) -> str:
    """A plan to read: its text or its steps, and with `remarks` the notes, suggestions and reviews on it."""
    title = [] if card.text else [f"# {card.title}"]
    return "\n\n".join([*title, *_parts(card, "##", remarks=remarks)]) + "\n"


def _parts(card: PlanCard, heading: str, *, remarks: bool = True) -> Iterator[str]:
    if card.why and remarks:
        yield "\n".join(f"> {line}".rstrip() for line in card.why.splitlines())
    yield _body(card)
    if remarks:
        yield from _section(f"{heading} Notes", (_item(f"{each.by}: {each.text}") for each in card.notes))
        yield from _section(f"{heading} Suggestions", (_item(f"{each.by}: {each.text}") for each in card.suggestions))
        yield from _section(f"{heading} Remarks", map(_remark, card.open_remarks))
        yield from _section(f"{heading} Closed remarks", map(_remark, card.closed_remarks))
        yield from _section(f"{heading} Verdicts", map(_review, card.reviews))


def _body(card: PlanCard) -> str:
    if card.text:
        return card.text.strip("\n")
    if card.rows:
        return "\n".join("  " * row.depth + _task(row) for row in card.rows)
    if card.uri is not None:
        return "\n\n".join(filter(None, (f"<{unwrapped(card.uri)}>", unwrapped(card.problem or ""))))
    return f"```json\n{card.fields}\n```" if card.fields else "Nothing on the list."


def _task(row: StepRow) -> str:
    known = status_of(row.status)
    below = below_words(row.below) if row.below else ""
    words = ["" if row.priority == MEDIUM else row.priority, "" if known else row.status, below]
    details = ", ".join(filter(None, map(unwrapped, words)))
    box = (known or STATUSES[DEFAULT_STATUS]).box
    return f"- [{box}] {unwrapped(row.text) or _NO_TEXT}" + (f" ({details})" if details else "")


def _review(review: ReviewCard) -> str:
    since = ", and the plan has changed since" if review.stale else ""
    return _item(f"{review.by}: {review.words}{since}")


def _remark(remark: RemarkCard) -> str:
    words = ", ".join(remark.steps) or "no step" if remark.kind == SELECTION else remark.text
    said = ": ".join(filter(None, (remark.by, remark.label.lower(), remark.about, words)))
    facts = ["kept in force" if remark.kept else "", "" if remark.is_open else remark.delivery.lower()]
    details = ", ".join(filter(None, facts))
    stale = [_item(remark.stale, 1)] if remark.stale else []
    answers = (_item(f"{each.by}: {each.text}", 1) for each in remark.answers)
    return "\n".join([_item(f"{said} ({details})" if details else said), *stale, *answers])


def _item(text: str, depth: int = 0) -> str:
    return f"{'  ' * depth}- {unwrapped(text)}"


def _section(heading: str, items: Iterable[str]) -> Iterator[str]:
    listed = "\n".join(items)
    if listed:
        yield f"{heading}\n\n{listed}"
