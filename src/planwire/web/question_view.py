"""An agent's question about its plan: who asks, the answers to choose from, and what is new in the plan.

An agent that asks through its client gets the answer there, and nowhere else. One that waits for a review gets it here.
"""

from typing import Final

from planwire.model.fold import OpenQuestion, PlanRecord
from planwire.web.difference import difference_view
from planwire.web.html import Html, el
from planwire.web.page_tree import Part, leaf
from planwire.web.times import moment

__all__ = ["asked_part", "waiting_words"]

#: Equal rows around each change.
AROUND: Final = 2


def asked_part(
    part_id: str, record: PlanRecord, before: PlanRecord | None, client: str | None, *, in_file: bool
) -> Part | None:
    """The question, as a part of its plan; None if there is none. `before` is the plan that people knew."""
    asked = record.asked
    if asked is None:
        return None
    own = f"{part_id}-asked"
    return leaf(
        own,
        "section",
        el("h3", _who_asks(asked, client), id=f"{own}-name"),
        _how_to_answer(part_id, asked),
        None if in_file else _what_is_new(record, before),
        class_="question",
        aria_labelledby=f"{own}-name",
    )


def waiting_words(state: str, asked: bool) -> str:
    """The state of a session in a word, or in three if it waits for a review."""
    return "waiting for review" if asked else state


def _who_asks(asked: OpenQuestion, client: str | None) -> str:
    if not asked.options:
        return "The agent waits for your review"
    return f"{_without_version(client) if client else 'The editor'} asks for your approval"


def _without_version(client: str) -> str:
    name, _, version = client.rpartition(" ")
    return name if name and version[:1].isdigit() else client


def _how_to_answer(part_id: str, asked: OpenQuestion) -> Html:
    since = el("span", " Since ", moment(asked.at), ".", class_="origin")
    if not asked.options:
        here = el("a", "Approve it or ask for changes", href=f"#{part_id}-steer")
        return el("p", here, ": it goes on when you have decided.", since)
    offered = el("ul", *(el("li", name, dir="auto") for name in asked.options), class_="offered")
    return el("div", el("p", "The answer is given there. It is one of these:", since), offered)


def _what_is_new(record: PlanRecord, before: PlanRecord | None) -> Html:
    if before is None:
        words = "This is the first version." if record.supersedes is None else "The version before was dismissed."
        return el("p", words, class_="nothing")
    since = "your last review" if before.version == record.version else f"version {before.version}"
    name = el("summary", f"What has changed since {since}")
    return el("details", name, difference_view(before, record, AROUND), open=True)
