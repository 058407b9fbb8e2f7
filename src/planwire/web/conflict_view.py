"""A plan that moved on, for a person who decides again: the difference, and the events that made it."""

from typing import Final

from planwire.readmodel.history import HistoryEntry
from planwire.session.moved_on import MovedOn
from planwire.web.difference import difference_view
from planwire.web.history_page import entry_phrases
from planwire.web.html import EMPTY, Html, el
from planwire.web.times import moment

__all__ = ["TOLD", "WORDS", "moved_view"]

#: Events about a plan that leave it as it is.
WORDS: Final = ("plan_reviewed", "review_asked")
#: The newest events in between that the view lists.
TOLD: Final = 8
#: Equal rows around each change.
AROUND: Final = 1


def moved_view(moved: MovedOn) -> Html:
    """The change since the revision that the person saw: the difference first, then its events."""
    before, now = moved.before, moved.now
    changed = before is None or now is None or before.state.plan != now.state.plan
    told = [each for each in moved.moments if each.event not in WORDS]
    left_out = len(told) - TOLD
    return el(
        "div",
        difference_view(before, now, AROUND) if changed else EMPTY,
        el("p", f"{left_out:,} more changes, then:", class_="nothing") if left_out > 0 else None,
        el("ol", *(_entry(each) for each in told[-TOLD:]), class_="moments"),
        class_="moved",
    )


def _entry(entry: HistoryEntry) -> Html:
    head = el("div", moment(entry.at), el("span", el("bdi", entry.by), class_="by"), class_="moment-head")
    return el("li", head, el("ul", *entry_phrases(entry), class_="words-list"), class_="moment")
